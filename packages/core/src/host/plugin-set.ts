import {
  APPROVAL,
  ASKER,
  BUDGET_GUARDS,
  EVENT_STORE,
  GATES,
  HOOKS,
  PerdureError,
  PERMISSION,
  reasonOf,
  REDACTORS,
  type Logger,
  type Plugin,
  type PluginLife,
  type Token,
} from '@perdure/plugin-api';
import { withTimeout } from '../invoke/with-timeout.js';
import type { Container } from './container.js';
import type { ConfiguredPlugin } from './load-plugins.js';
import { contextOf, type Provided } from './plugin-context.js';

export interface PluginStatus {
  readonly name: string;
  readonly version: string;
  readonly status: 'ready' | 'failed';
  readonly reason?: string;
}

/** Without the first there are no sessions; without one of the others calls would pass that it is there to hold up. */
const INDISPENSABLE: ReadonlySet<symbol> = new Set(
  [EVENT_STORE, PERMISSION, APPROVAL, ASKER, BUDGET_GUARDS, GATES, HOOKS, REDACTORS].map(({ key }) => key),
);

/** How long plugins are waited for, in milliseconds: at set-up and at start, each, and when they stop. */
export interface PluginLimits {
  readonly pluginTimeoutMs: number;
  readonly pluginStopMs: number;
}

interface LivePlugin {
  readonly plugin: Plugin;
  readonly life: PluginLife;
  readonly provided: readonly Provided[];
}

/**
 * Plugins of one container, from set-up to stop. A plugin that fails harms only itself. But nothing starts when it
 * alone provides what another needs, when sessions cannot be without it, or when it stands guard; the error names it
 * then. A plugin that takes too long has failed.
 */
export class PluginSet {
  private readonly live: LivePlugin[] = [];
  private readonly statuses = new Map<string, PluginStatus>();
  private provided: readonly Provided[] = [];

  constructor(
    private readonly container: Container,
    private readonly logger: Logger,
    private readonly limits: PluginLimits,
  ) {}

  /** What was provided, token by token, in the order of the plugins. */
  get contributions(): readonly Provided[] {
    return this.provided;
  }

  status(): readonly PluginStatus[] {
    return [...this.statuses.values()];
  }

  /** Sets up and starts plugins that were checked and ordered. */
  async start(plugins: readonly ConfiguredPlugin[]): Promise<void> {
    for (const each of plugins) await this.setUp(each, plugins);
    for (const { plugin, life, provided } of [...this.live]) {
      const hasStarted = await this.attempt(plugin, 'start', plugins, () =>
        within(this.limits.pluginTimeoutMs, async () => life.start?.()),
      );
      if (!hasStarted) this.withdraw(provided);
    }
  }

  /**
   * Stops in the reverse order, also what was set up and failed to start. Every stop is tried; what failed is reported
   * and does not hinder the others.
   */
  async stop(): Promise<void> {
    for (const each of this.live.splice(0).reverse()) await this.end(each);
  }

  private async end({ plugin, life }: LivePlugin): Promise<void> {
    try {
      await within(this.limits.pluginStopMs, async () => life.stop?.());
    } catch (error) {
      this.logger.log('error', 'A plugin failed to stop.', { plugin: plugin.name, reason: reasonOf(error) });
    }
  }

  private async setUp({ plugin, config }: ConfiguredPlugin, all: readonly ConfiguredPlugin[]): Promise<void> {
    const provided: Provided[] = [];
    await this.attempt(plugin, 'setup', all, async () => {
      const setUp = (async () => plugin.setup(contextOf(plugin, config, this.container, provided)))();
      const life = await within(this.limits.pluginTimeoutMs, () => setUp).catch((error: unknown) => {
        // One that comes to its end too late is not used any more, but what it opened must be closed.
        setUp.then(
          (late) => this.end({ plugin, life: late, provided }),
          () => undefined,
        );
        throw error;
      });
      for (const each of provided) this.register(each);
      this.live.push({ plugin, life, provided });
      this.statuses.set(plugin.name, { name: plugin.name, version: plugin.version, status: 'ready' });
    });
  }

  private register(provided: Provided): void {
    this.provided = [...this.provided, provided];
    const { token, value } = provided;
    if (token.cardinality === 'one') return this.container.set(token, value);
    return this.setAll(token);
  }

  /** What a plugin provided that is not there is not there either. */
  private withdraw(provided: readonly Provided[]): void {
    this.provided = this.provided.filter((each) => !provided.includes(each));
    for (const { token } of provided) {
      if (token.cardinality === 'one') this.container.withdraw(token);
      else this.setAll(token);
    }
  }

  private setAll(token: Token<unknown>): void {
    const all = this.provided.filter((other) => other.token.key === token.key).map((other) => other.value);
    this.container.set(token as Token<unknown, 'many'>, all);
  }

  private async attempt(
    plugin: Plugin,
    stage: 'setup' | 'start',
    all: readonly ConfiguredPlugin[],
    work: () => Promise<void>,
  ): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const reason = reasonOf(error);
      const neededBy = all.find((other) => other.plugin !== plugin && needsOneOf(other.plugin, plugin.provides));
      this.statuses.set(plugin.name, { name: plugin.name, version: plugin.version, status: 'failed', reason });
      if (neededBy !== undefined || plugin.provides.some(({ key }) => INDISPENSABLE.has(key))) {
        const why = neededBy === undefined ? reason : `${reason} ("${neededBy.plugin.name}" needs it)`;
        throw new PerdureError('PERDURE_PLUGIN_FAILED', { plugin: plugin.name, stage, reason: why }, { cause: error });
      }
      this.logger.log('error', 'A plugin failed and is left out.', { plugin: plugin.name, stage, reason });
      return false;
    }
  }
}

/** Rejects when the work takes longer; what comes of it then is dropped. */
function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  return withTimeout(ms, new AbortController().signal, work);
}

function needsOneOf(plugin: Plugin, tokens: readonly Token<unknown>[]): boolean {
  return plugin.needs.some((need) => need.cardinality === 'one' && tokens.some((token) => token.key === need.key));
}
