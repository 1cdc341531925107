import type { RuntimeAgent } from '../host/agent.js';
import type { HostServices } from '../host/host-services.js';

/** What those share that look after sessions which no process has in memory. */
export interface KeeperGround {
  readonly services: HostServices;
  readonly agents: {
    get(id: string): RuntimeAgent | undefined;
    values(): Iterable<RuntimeAgent>;
  };
  /** Has the sessions looked at again after so many milliseconds. */
  readonly wakeIn: (ms: number) => void;
  readonly signal: AbortSignal;
  report(message: string, error: unknown, data?: Readonly<Record<string, string>>): void;
}
