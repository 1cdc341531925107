export { defineConfig } from './config/perdure-config.js';
export type { AgentConfig, PerdureConfig } from './config/perdure-config.js';
