import type { Sandbox, Tools } from '@perdure/plugin-api';
import type { ShellConfiguration } from './configuration.js';
import { shellTool } from './shell-tool.js';

export interface ShellToolsOptions {
  /** Real absolute path of the folder that commands work in. There are no tools without one. */
  readonly workspace: string | undefined;
  /** What closes commands in. Without one, commands that are to be closed in are refused. */
  readonly sandbox: Sandbox | undefined;
  readonly config: ShellConfiguration;
}

const none: Tools = {};

export function shellTools({ workspace, sandbox, config }: ShellToolsOptions): Tools {
  if (workspace === undefined || config.mode === 'off') return none;
  return { shell_exec: shellTool({ workspace, sandbox, config }) };
}
