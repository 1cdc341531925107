import { isAbsolute } from 'node:path';
import { PerdureError, type Sandbox, type Tool, type ToolContext } from '@perdure/plugin-api';
import { z } from 'zod';
import { commandEnvironment } from './command/command-environment.js';
import { runCommand, type RunningCommand } from './command/run-command.js';
import { workingDirectory } from './command/working-directory.js';
import type { ShellConfiguration } from './configuration.js';
import { shellFailure } from './failure.js';
import { commandOutput } from './output/command-output.js';
import { startUnrestricted } from './unrestricted/unrestricted-process.js';

export interface ShellToolSetting {
  readonly workspace: string;
  readonly sandbox: Sandbox | undefined;
  readonly config: ShellConfiguration;
}

/** The kernel takes no longer argument. */
const LONGEST_COMMAND_BYTES = 128 * 1024 - 1;

function inputSchema({ mode, timeoutMs, maxTimeoutMs }: ShellConfiguration) {
  const usual = z.strictObject({
    command: z
      .string()
      .min(1)
      .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
      .refine((text) => Buffer.byteLength(text) <= LONGEST_COMMAND_BYTES, 'must have less than 128 KiB')
      .describe('The text for the shell, such as: npm test 2>&1 | tail -40'),
    working_directory: z
      .string()
      .default('.')
      .describe('Folder to run in, relative to the workspace. Symbolic links are not followed.'),
    timeout_ms: z
      .int()
      .min(1)
      .max(maxTimeoutMs)
      .default(timeoutMs)
      .describe('The command and all that it started are ended after this many milliseconds.'),
    description: z.string().max(500).optional().describe('What the command is for, in a few words for a person.'),
  });
  if (mode !== 'unrestricted') return usual;
  return usual
    .extend({
      sandbox: z
        .enum(['safe', 'unrestricted'])
        .default('safe')
        .describe(
          'safe: closed in, without network. unrestricted: outside, when nothing else will do; needs a reason.',
        ),
      reason: z.string().max(1000).optional().describe('Why the command cannot be closed in. A person reads it.'),
    })
    .refine((input) => input.sandbox === 'safe' || (input.reason ?? '').trim() !== '', {
      path: ['reason'],
      message: 'must say why the command cannot be closed in',
    });
}

interface ShellInput {
  readonly command: string;
  readonly working_directory: string;
  readonly timeout_ms: number;
  readonly sandbox?: 'safe' | 'unrestricted';
  readonly reason?: string | undefined;
}

/** Runs one command to its end. */
export function shellTool(setting: ShellToolSetting): Tool {
  const { config, workspace } = setting;
  const schema: z.ZodType<ShellInput> = inputSchema(config);
  return {
    description: describeTool(config),
    inputSchema: schema,
    effect: 'once',
    trust: 'workspace',
    permissionSubjects: (given: never) => {
      const parsed = schema.safeParse(given);
      return [parsed.success ? parsed.data.command : ''];
    },
    confirmation: (given: never) => {
      const parsed = schema.safeParse(given);
      if (!parsed.success || parsed.data.sandbox !== 'unrestricted') return undefined;
      return `The command is to run outside the sandbox: ${parsed.data.reason ?? ''}`;
    },
    execute: async (given: never, context?: Partial<ToolContext>) => {
      const input = checkedInput(schema, given);
      // Outside the runtime, tools are also called by the AI SDK, which does not always hand in a signal.
      const signal = context?.abortSignal ?? new AbortController().signal;
      if (signal.aborted) throw shellFailure('aborted', 'The call was stopped before the command began.');
      const folder = await workingDirectory(workspace, input.working_directory);
      const { timeout_ms: timeoutMs } = input;
      const result = await runCommand(() => start(setting, input, folder, context?.env), {
        timeoutMs,
        signal,
        outputBytes: config.outputBytes,
      });
      // The record of the call says by itself that nothing closed it in.
      const outside = input.sandbox === 'unrestricted' ? { sandbox: input.sandbox } : {};
      return { ...outside, ...commandOutput(result) };
    },
  };
}

async function start(
  setting: ShellToolSetting,
  input: ShellInput,
  folder: string,
  ofSession: ToolContext['env'],
): Promise<RunningCommand> {
  const { config, workspace, sandbox } = setting;
  const argv = [config.shell, '-c', input.command];
  const environment = commandEnvironment(config, process.env, ofSession);
  if (input.sandbox === 'unrestricted') return startUnrestricted({ argv, workingDirectory: folder, environment });
  if (sandbox === undefined) {
    throw new PerdureError('PERDURE_SANDBOX_UNAVAILABLE', { reason: 'no plugin provides a sandbox' });
  }
  const root = workspace === '/' ? '/' : `${workspace}/`;
  const hidden = config.hidden
    .map((path) => (isAbsolute(path) ? path : `${root}${path}`))
    .filter((path) => path.startsWith(root) && path !== root);
  const { limits } = config;
  return sandbox.start({ argv, workspace, workingDirectory: folder, environment, hidden, limits });
}

function describeTool({ mode, shell, timeoutMs }: ShellConfiguration): string {
  const outside = mode === 'unrestricted' ? ' With sandbox: unrestricted it runs outside, when a person agrees.' : '';
  return (
    `Runs a command with ${shell} in the workspace and waits for its end, at most ${timeoutMs / 1000} seconds unless ` +
    'timeout_ms says otherwise. It has no input and no network, can write in the workspace and in /tmp, and sees ' +
    `little else. What it starts in the background ends with it.${outside}`
  );
}

function checkedInput(schema: z.ZodType<ShellInput>, given: unknown): ShellInput {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? 'input' : issue.path.join('.');
  throw new PerdureError('PERDURE_TOOL_INPUT', { tool: 'shell_exec', field, reason: issue?.message ?? 'not valid' });
}
