import type { HostEnv } from '@perdure/plugin-api';
import type { Redaction } from '../secrets/redaction.js';

/** What a piece of work of a session may know and use: frozen when the work begins, passed down and never up. */
export interface InvocationContext {
  readonly sessionId: string;
  readonly tenant: string | undefined;
  readonly turnId: string | undefined;
  readonly runId: string | undefined;
  readonly stepId: string | undefined;
  readonly workspace: string | undefined;
  readonly signal: AbortSignal;
  readonly env: HostEnv;
  readonly redaction: Redaction;
}
