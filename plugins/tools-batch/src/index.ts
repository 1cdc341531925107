export { batchTool } from './batch-tool.js';
export { batchInput } from './batch-input.js';
export type { BatchInput, Invocation } from './batch-input.js';
export { toolsBatch, toolsBatch as default } from './tools-batch.js';
