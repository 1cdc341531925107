import type { ApprovalPolicy } from '@perdure/plugin-api';

export interface ApprovalSettings {
  readonly mode: ApprovalPolicy['mode'];
  readonly expiresInMs?: number | undefined;
  readonly onExpiry: 'allow' | 'deny';
}

/** The policy of settings; equal settings have equal digests. */
export function approvalPolicy({ mode, expiresInMs, onExpiry }: ApprovalSettings): ApprovalPolicy {
  const expiry = expiresInMs === undefined ? {} : { expiresInMs, onExpiry };
  return { id: 'policy-approval', digest: JSON.stringify([mode, expiresInMs ?? null, onExpiry]), mode, ...expiry };
}
