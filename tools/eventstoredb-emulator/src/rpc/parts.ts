import type { Access } from '../access/access.js';
import type { Members } from '../cluster/members.js';
import type { FaultBoard } from '../faults/fault-board.js';
import type { OpenCalls } from '../faults/open-calls.js';
import type { Connections } from '../network/connections.js';
import type { Database } from '../streams/database.js';

/** What the calls of one server are answered with. */
export interface Parts {
  readonly database: Database;
  readonly access: Access;
  readonly members: Members;
  readonly faults: FaultBoard;
  readonly calls: OpenCalls;
  /** Destroys the connection that a client came by. */
  readonly cut: Connections['cut'];
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}
