import type { ChildGround } from '../children/child-ground.js';
import type { SessionKey } from '@perdure/events';
import type { EventStore, HostEnv, Logger } from '@perdure/plugin-api';
import type { Composer } from '../compose/composer.js';
import type { SessionFiles } from '../files/session-files.js';
import type { AgentView } from '../host/agent-view.js';
import type { VariableValues } from '../host/variable-values.js';
import type { LiveFeed } from '../live/live-feed.js';
import type { Redaction } from '../secrets/redaction.js';
import type { SecretRegistry } from '../secrets/secret-registry.js';
import type { BatchContext } from '../session/fact-batch.js';
import type { Journal } from '../session/journal.js';
import type { SessionState } from '../session/session-state.js';
import type { NodeLease } from '../session/node-lease.js';

/** Everything that work on one session needs, put together when the session is loaded. */
export interface SessionWork {
  readonly key: SessionKey;
  readonly journal: Journal;
  readonly feed: LiveFeed;
  readonly composer: Composer;
  readonly store: EventStore;
  readonly files: SessionFiles;
  readonly env: HostEnv;
  readonly redaction: Redaction;
  readonly secrets: SecretRegistry;
  readonly batchContext: BatchContext;
  readonly lease: NodeLease;
  readonly logger: Logger;
  /** Where those are that the session hands work to. */
  readonly children: ChildGround;
  /** The values of the session's variables in this process. */
  readonly variables: VariableValues;
  /**
   * The agent as it is for the session at a state, the committed one when absent: with the plugins that it has there.
   */
  readonly agent: (state?: Pick<SessionState, 'plugins'>) => AgentView;
  /** The agent as it is at the moment, for a session that has gone over to all of it. */
  readonly newestAgent: () => AgentView;
}
