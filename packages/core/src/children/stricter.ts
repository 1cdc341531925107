import type { ApprovalMode } from '@perdure/events';

const STRICTNESS: Readonly<Record<ApprovalMode, number>> = { 'always-allow': 0, ask: 1, deny: 2 };

export function isStricter(one: ApprovalMode, other: ApprovalMode): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/** The stricter of two approval modes; an absent one says nothing. */
export function stricterMode(one: ApprovalMode | undefined, other: ApprovalMode): ApprovalMode {
  return one !== undefined && isStricter(one, other) ? one : other;
}

/** A session's own mode as it is shown: no less strict than what the session above it was bound to since. */
export function shownMode({
  approvals,
  approvalCap,
}: {
  readonly approvals?: ApprovalMode | undefined;
  readonly approvalCap?: ApprovalMode | undefined;
}): ApprovalMode | undefined {
  return approvalCap === undefined ? approvals : stricterMode(approvals, approvalCap);
}
