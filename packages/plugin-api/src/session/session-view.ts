import type { ApprovalMode, Usage } from '@perdure/events';
import type { Interaction } from './interaction.js';
import type { Message } from './message.js';
import type { TitleBy } from './sessions.js';

/** A session as it was at a revision. It can be looked at, and does not change. */
export interface SessionView {
  readonly revision: number;
  /** The chain's hash there. */
  readonly hash: string;
  /** Epoch milliseconds at which the fact of the revision was written. */
  readonly time: number;
  info(): SessionInfo;
  messages(options?: MessagesOptions): MessagePage;
  /** What waited for a person's answer then. */
  interactions(): readonly Interaction[];
}

export interface MessagesOptions {
  /** Only messages with a smaller sequence; the newest when absent. */
  readonly beforeSequence?: number;
  /** At most this many; 100 when absent. */
  readonly limit?: number;
}

export interface MessagePage {
  /** In the order of their sequence. */
  readonly items: readonly Message[];
  readonly total: number;
  readonly hasMore: boolean;
  /** The place of the session at which these are its messages: for `subscribe(listener, { from })`. */
  readonly cursor: string;
}

export interface SessionInfo {
  readonly id: string;
  readonly agentId: string;
  readonly workspace: string | null;
  /** The session that this one works for. */
  readonly parent: string | null;
  /** The session at the top of the tree; this one when it has no parent. */
  readonly root: string;
  /** Where it goes on from another session, for one that was forked. */
  readonly forkedFrom: { readonly session: string; readonly revision: number } | null;
  /** The name of the definition that narrows the agent for this session; `null` for the agent as it is. */
  readonly agent: string | null;
  readonly model: string | null;
  /** The provider's id of the model that gave the last answer; before that the name of the session's own model. */
  readonly modelLabel: string | null;
  /** What it is called; `null` before its first prompt. */
  readonly title: string | null;
  readonly titleBy: TitleBy | null;
  /** The beginning of the newest prompt or answer, at most 180 characters on one line. */
  readonly preview: string;
  /** The IANA name of the time zone in which it was made, where that was recorded. */
  readonly timezone: string | null;
  /** The session's own approval mode; `null` when it has that of the policy. */
  readonly approvals: ApprovalMode | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** `null` for a session that is not archived. */
  readonly archivedAt: number | null;
  readonly messages: number;
  readonly usage: Usage;
  readonly turn: { readonly id: string; readonly status: 'running' | 'waiting'; readonly runId: string | null } | null;
  readonly owner: { readonly node: string; readonly epoch: number } | null;
  /** The last revision of the stream, and the hash there. */
  readonly revision: number;
  readonly hash: string;
  /** For `events({ from })`: what comes behind that revision. */
  readonly cursor: string;
  /** Why this build may not run the session on; it can still be read. */
  readonly readOnly: { readonly type: string; readonly revision: number } | null;
}
