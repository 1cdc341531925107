export type { ShellOptions } from './configuration.js';
export { isShellFailure } from './failure.js';
export type { ShellErrorCode, ShellFailure } from './failure.js';
export { shellTools } from './shell-tools.js';
export type { ShellToolsOptions } from './shell-tools.js';
export { toolsShell, toolsShell as default } from './tools-shell.js';
