import type { ActivePlugin } from '@perdure/events';
import { PerdureError, type PluginLike } from '@perdure/plugin-api';
import { digestOf } from './sha256.js';
import type { HostServices } from './host-services.js';
import { loadPlugins, type ConfiguredPlugin } from './load-plugins.js';
import { orderPlugins } from './order-plugins.js';
import type { Provided } from './plugin-context.js';
import { PluginSet } from './plugin-set.js';
import { isSamePlugins } from './same-plugins.js';

/** The plugins of an agent between two changes of them. */
export interface PluginGeneration {
  /** Those of the runtime, and behind them the agent's own that work. */
  readonly active: readonly ActivePlugin[];
  /** What the agent's own provide. */
  readonly contributions: readonly Provided[];
  /** Keeps its plugins from being stopped until the function that it returns is called. */
  readonly hold: () => () => void;
}

interface Generation extends PluginGeneration {
  readonly sets: ReadonlyMap<string, PluginSet>;
  users: number;
}

export function activePlugin({ plugin: { name, version } }: Pick<ConfiguredPlugin, 'plugin'>): ActivePlugin {
  return { name, version, digest: digestOf(`${name}@${version}`) };
}

/**
 * The plugins that were given to one agent. A change makes a generation of its own, and sessions go over to it one by
 * one, at their step boundaries: a plugin that is gone is stopped when nobody uses a generation that has it.
 */
export class AgentPlugins {
  private readonly generations: Generation[] = [];
  private readonly stopping = new Set<Promise<void>>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly services: HostServices) {
    this.begin(new Map());
  }

  get current(): PluginGeneration {
    return this.newest;
  }

  /** The newest generation with these plugins whose plugins still run; the current one when there is none. */
  of(active: readonly ActivePlugin[] | undefined): PluginGeneration {
    if (active === undefined) return this.newest;
    return this.generations.findLast((generation) => isSamePlugins(generation.active, active)) ?? this.newest;
  }

  /** Sets up and starts plugins; one of the same name is replaced. One change after the other. */
  add(plugins: readonly PluginLike[]): Promise<void> {
    return this.exclusively(async () => {
      const { container, logger, config } = this.services;
      const loaded = await loadPlugins(plugins, config.pluginRoot);
      for (const { plugin } of loaded) refuseRuntimeTokens(plugin);
      const needed = loaded.flatMap(({ plugin }) => plugin.needs);
      const available = needed.filter((need) => container.find(need) !== undefined);
      const sets = new Map(this.newest.sets);
      for (const each of orderPlugins(loaded, available)) {
        // Each has a container of its own below the runtime's, so that it can be taken out again alone.
        const set = new PluginSet(container.child(), logger, config);
        await set.start([each]).catch(async (error: unknown) => {
          await set.stop();
          throw error;
        });
        sets.set(each.plugin.name, set);
        this.begin(new Map(sets), each);
      }
    });
  }

  /** Whether there was such a plugin. */
  remove(name: string): Promise<boolean> {
    return this.exclusively(() => {
      const sets = new Map(this.newest.sets);
      if (!sets.delete(name)) return Promise.resolve(false);
      this.begin(sets);
      return Promise.resolve(true);
    });
  }

  /** Stops what is gone and nobody uses. Resolves when that has ended; what is still used ends with its last use. */
  async retire(): Promise<void> {
    const { newest } = this;
    const current = new Set(newest.sets.values());
    const used = new Set(this.generations.flatMap(({ sets, users }) => (users > 0 ? [...sets.values()] : [])));
    const over = new Set(this.generations.flatMap(({ sets }) => [...sets.values()]));
    const kept = this.generations.filter(
      (each) => each === newest || each.users > 0 || [...each.sets.values()].every((set) => current.has(set)),
    );
    this.generations.splice(0, this.generations.length, ...kept);
    for (const set of over) {
      if (current.has(set) || used.has(set)) continue;
      const ending = set.stop().finally(() => this.stopping.delete(ending));
      this.stopping.add(ending);
    }
    await Promise.all(this.stopping);
  }

  /** Stops all of them, used or not. */
  async stop(): Promise<void> {
    await this.last.catch(() => undefined);
    const sets = new Set(this.generations.flatMap((generation) => [...generation.sets.values()]));
    for (const set of [...sets].reverse()) await set.stop();
    await Promise.all(this.stopping);
  }

  private get newest(): Generation {
    return this.generations.at(-1) as Generation;
  }

  private begin(sets: ReadonlyMap<string, PluginSet>, added?: ConfiguredPlugin): void {
    const before = this.generations.at(-1);
    const known = new Map(before?.active.map((plugin) => [plugin.name, plugin]));
    if (added !== undefined) known.set(added.plugin.name, activePlugin(added));
    const own = [...sets].flatMap(([name, set]) => {
      const plugin = known.get(name);
      return plugin !== undefined && set.status().every(({ status }) => status === 'ready') ? [plugin] : [];
    });
    const generation: Generation = {
      active: [...this.services.plugins, ...own],
      contributions: [...sets.values()].flatMap(({ contributions }) => contributions),
      sets,
      users: 0,
      hold: () => this.hold(generation),
    };
    this.generations.push(generation);
  }

  private hold(generation: Generation): () => void {
    generation.users += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      generation.users -= 1;
      if (generation.users === 0 && generation !== this.newest) void this.retire();
    };
  }

  private exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}

function refuseRuntimeTokens({ name, provides }: ConfiguredPlugin['plugin']): void {
  const token = provides.find(({ scope }) => scope === 'runtime');
  if (token === undefined) return;
  const reason = `"${token.name}" belongs to the runtime, not to one agent`;
  throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: name, field: 'provides', reason });
}
