export { createPermissionPolicy } from './permission-policy.js';
export type { PermissionRules } from './permission-policy.js';
export { policyPermission, policyPermission as default } from './policy-permission.js';
export { formatRule, parseRule } from './rule.js';
export type { PermissionRule } from './rule.js';
