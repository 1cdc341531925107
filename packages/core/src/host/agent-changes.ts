import { isPerdureError, reasonOf, WORKSPACE_ENV } from '@perdure/plugin-api';
import { followHost } from '../session/host-changes.js';
import { checkVariables } from '../session/session-input.js';
import type { HostServices } from './host-services.js';
import type { SessionRegistry } from './session-registry.js';

/** What of an agent changes while it lives and is told to its sessions, and the variables that it has. */
export class AgentChanges {
  private variables: Readonly<Record<string, string>>;

  constructor(
    env: Readonly<Record<string, string>>,
    private readonly agentId: string,
    private readonly services: HostServices,
  ) {
    this.variables = env;
  }

  /** The variables of a session of this agent: those of its workspace, and the agent's own, which come first. */
  env(workspace: string | undefined): Readonly<Record<string, string>> {
    return { ...this.services.container.find(WORKSPACE_ENV)?.variables(workspace), ...this.variables };
  }

  /** Throws PERDURE_INPUT_INVALID and PERDURE_SECRET_UNKNOWN. */
  setEnv(env: Readonly<Record<string, string>>): void {
    const checked = this.checked(env);
    this.variables = Object.fromEntries(Object.entries(checked).filter(([, value]) => value !== null)) as typeof env;
  }

  /** Throws PERDURE_INPUT_INVALID and PERDURE_SECRET_UNKNOWN. */
  patchEnv(patch: Readonly<Record<string, string | null>>): void {
    const next = new Map<string, string>(Object.entries(this.variables));
    for (const [name, value] of Object.entries(this.checked(patch))) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    this.variables = Object.fromEntries(next);
  }

  private checked(given: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> {
    const env = checkVariables('env', given);
    this.services.secrets.checkVariables(env);
    return env;
  }

  /**
   * Has the sessions that are in memory go over to the agent as it is. Others do when they are opened. What one session
   * cannot do is reported and hinders no other.
   */
  async tell(registry: SessionRegistry): Promise<void> {
    const told = registry.loaded.map((home) =>
      home.use(followHost).catch((error: unknown) => {
        if (isPerdureError(error, 'PERDURE_SESSION_CLOSED')) return;
        const about = { agent: this.agentId, session: home.key.id, reason: reasonOf(error) };
        this.services.logger.log('warn', 'A session was not told that its agent has changed.', about);
      }),
    );
    await Promise.all(told);
  }
}
