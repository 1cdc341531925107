import type { ApprovalMode } from '@perdure/events';
import type { HookSubject, HostEnv, Logger } from '@perdure/plugin-api';
import type { SessionFiles } from '../files/session-files.js';
import type { Redaction } from '../secrets/redaction.js';

/** What a piece of work of a session may know and use: frozen when the work begins, passed down and never up. */
export interface InvocationContext {
  readonly sessionId: string;
  /** The session at the top of the tree. */
  readonly rootSessionId: string;
  readonly tenant: string | undefined;
  readonly turnId: string | undefined;
  readonly runId: string | undefined;
  readonly stepId: string | undefined;
  readonly workspace: string | undefined;
  /** The variables that tools are handed. */
  readonly environment: () => Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly env: HostEnv;
  readonly redaction: Redaction;
  /** Absent where nothing is shown to models and no tool runs: in a replay. */
  readonly files: SessionFiles | undefined;
  readonly logger: Logger;
  /** What hooks are told of the session beside their occurrence. */
  readonly subject: () => HookSubject;
  /** The session's own approval mode. It changes between steps only. */
  readonly approvals: ApprovalMode | undefined;
  /** What it was bound to since it began. */
  readonly approvalCap?: ApprovalMode | undefined;
  /** Names of the tools that the session used last, the newest last. */
  readonly recentTools: () => readonly string[];
  /** How often in a row the model asked for the same, up to one of its calls; counted no further than `most`. */
  readonly timesInARow: (callId: string, most: number) => number;
}
