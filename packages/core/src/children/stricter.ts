import type { ApprovalMode } from '@perdure/events';

const STRICTNESS: Readonly<Record<ApprovalMode, number>> = { 'always-allow': 0, ask: 1, deny: 2 };

/** The stricter of two approval modes; an absent one says nothing. */
export function stricterMode(one: ApprovalMode | undefined, other: ApprovalMode): ApprovalMode {
  return one !== undefined && STRICTNESS[one] > STRICTNESS[other] ? one : other;
}
