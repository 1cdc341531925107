export { isFileFailure } from './failure.js';
export type { FileErrorCode, FileFailure } from './failure.js';
export { fileTools } from './file-tools.js';
export type { FileToolsOptions } from './file-tools.js';
export { localWorkspaces } from './local-workspaces.js';
export { toolsFiles, toolsFiles as default } from './tools-files.js';
