import type { Labels, SessionKey } from '@perdure/events';
import type { Logger, SessionRetentionLimits, SessionScope, SnapshotStore } from '@perdure/plugin-api';
import type { AgentView } from '../host/agent-view.js';
import type { RunIds } from '../host/run-ids.js';
import type { ModelPrice } from '../host/runtime-options.js';
import type { SessionAdditions } from '../host/session-additions.js';
import type { LoadedSession } from './loaded-session.js';

/**
 * Where a session handle finds its session: loads it with the first use, once for all handles of the process. A session
 * that only waits may leave memory between two uses, and never during one.
 */
export interface SessionHome {
  readonly key: SessionKey;
  readonly agentId: string;
  readonly logger: Logger;
  readonly snapshots: SnapshotStore | undefined;
  /** Prices by model id. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly runIds: RunIds;
  /** What the host added to the session in this process. */
  readonly additions: SessionAdditions;
  /** Works on the session, which stays loaded meanwhile. Throws PERDURE_SESSION_CLOSED after `close`. */
  use<Result>(work: (loaded: LoadedSession) => Result | Promise<Result>): Promise<Result>;
  /** The same until `release` is called: for readers and listeners. */
  hold(): { readonly loaded: Promise<LoadedSession>; readonly release: () => void };
  /** The agent as it is at the moment, with what was added. */
  agent(): AgentView;
  /** What those see of the session that bring it tools; complete only while it is loaded. */
  scope(): SessionScope;
  /** The labels as far as they are known without loading. */
  labels(): Labels;
  /** What this process retains of the session's runs. */
  retention(): SessionRetentionLimits;
  close(reason: 'closed' | 'passivated'): Promise<void>;
}
