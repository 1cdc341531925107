export { builtInAgents } from './built-in-agents.js';
export { toolsDelegate, toolsDelegate as default } from './tools-delegate.js';
export type { TaskReport } from './task-report.js';
