import type { Labels, SessionKey } from '@perdure/events';
import type { Logger, SnapshotStore } from '@perdure/plugin-api';
import type { SessionAdditions } from '../host/session-additions.js';
import type { LoadedSession } from './loaded-session.js';

/** Where a session handle finds its session: loads it with the first use, once for all handles of the process. */
export interface SessionHome {
  readonly key: SessionKey;
  readonly agentId: string;
  readonly logger: Logger;
  readonly snapshots: SnapshotStore | undefined;
  /** What the host added to the session in this process. */
  readonly additions: SessionAdditions;
  /** Throws PERDURE_SESSION_CLOSED after `close`. */
  load(): Promise<LoadedSession>;
  /** The labels as far as they are known without loading. */
  labels(): Labels;
  close(reason: 'closed' | 'passivated'): Promise<void>;
}
