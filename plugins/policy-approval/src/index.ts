export { approvalPolicy } from './approval-policy.js';
export type { ApprovalSettings } from './approval-policy.js';
export { askUserTool } from './ask-user.js';
export type { ApprovalOptions } from './policy-approval.js';
export { policyApproval, policyApproval as default } from './policy-approval.js';
