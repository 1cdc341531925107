export { approvalPolicy } from './approval-policy.js';
export type { ApprovalSettings } from './approval-policy.js';
export { policyApproval, policyApproval as default } from './policy-approval.js';
