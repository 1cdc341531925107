export { defineConfig } from './config/perdure-config.js';
export type { AgentConfig, ApprovalMode, ApprovalsConfig, PerdureConfig } from './config/perdure-config.js';
