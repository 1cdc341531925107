import type { ApprovalMode } from '@perdure/events';

/**
 * What happens to calls that the rules leave open. The runtime keeps the request and its answer as facts: a session
 * waits without a process, and whoever may answer does so from anywhere.
 */
export interface ApprovalPolicy {
  readonly id: string;
  /** Digest of all that follows. */
  readonly digest: string;
  /** `ask` waits for an answer, `always-allow` and `deny` give one. A session's own mode wins. */
  readonly mode: ApprovalMode;
  /** Milliseconds until a request without an answer is answered by `onExpiry`; never when absent. */
  readonly expiresInMs?: number;
  /** `deny` when absent. */
  readonly onExpiry?: 'allow' | 'deny';
}
