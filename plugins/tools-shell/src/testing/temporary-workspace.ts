import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPerdureError, noCalls, type Sandbox, type Tool, type ToolContext } from '@perdure/plugin-api';
import { afterAll } from 'vitest';
import { shellConfiguration, type ShellOptions } from '../configuration.js';
import { shellTools } from '../shell-tools.js';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A workspace, and a folder beside it, that are removed after the tests of the file. */
export function temporaryWorkspace(): { readonly workspace: string; readonly outside: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-tools-shell-test-')));
  made.push(base);
  const [workspace, outside] = [join(base, 'workspace'), join(base, 'outside')];
  mkdirSync(workspace);
  mkdirSync(outside);
  return { workspace, outside };
}

export function shellToolOf(options: ShellOptions, workspace: string, sandbox?: Sandbox): Tool {
  const tool = shellTools({ workspace, sandbox, config: shellConfiguration.parse(options) })['shell_exec'];
  if (tool === undefined) throw new Error('the tool is not offered');
  return tool;
}

/** What the tool resolved to, as tests read it. */
export interface ShellOutput {
  readonly exit: Readonly<Record<string, unknown>>;
  readonly duration_ms: number;
  readonly stdout: string;
  readonly stdout_tail?: string;
  readonly stdout_dropped_bytes?: number;
  readonly stderr: string;
}

export async function call(tool: Tool, input: object, signal?: AbortSignal): Promise<ShellOutput> {
  const abortSignal = signal ?? new AbortController().signal;
  const context: ToolContext = { toolCallId: 'c', abortSignal, idempotencyKey: 'k', sessionId: 's', calls: noCalls };
  return (await tool.execute?.(input as never, context)) as ShellOutput;
}

/** The code that a call fails with. */
export async function failure(tool: Tool, input: object, signal?: AbortSignal): Promise<unknown> {
  try {
    await call(tool, input, signal);
  } catch (error) {
    if (isPerdureError(error)) return error.code;
    return error instanceof Error && 'code' in error ? error.code : error;
  }
  return 'no failure';
}
