import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { call, failure, shellToolOf, temporaryWorkspace } from './testing/temporary-workspace.js';
import { unusableSandbox } from './testing/recording-sandbox.js';

const command = 'echo ran';

describe('a command that is to be closed in', () => {
  test('is refused without a sandbox, and never run bare', async () => {
    const { workspace } = temporaryWorkspace();
    const tool = shellToolOf({}, workspace);
    expect(await failure(tool, { command: 'echo ran >ran' })).toBe('PERDURE_SANDBOX_UNAVAILABLE');
    const unusable = unusableSandbox();
    expect(await failure(shellToolOf({}, workspace, unusable), { command })).toBe('PERDURE_SANDBOX_UNAVAILABLE');
    const unrestricted = shellToolOf({ mode: 'unrestricted' }, workspace);
    expect(await failure(unrestricted, { command: 'echo ran >ran' })).toBe('PERDURE_SANDBOX_UNAVAILABLE');
    expect(await call(unrestricted, { command: 'ls', sandbox: 'unrestricted', reason: 'to look' })).toMatchObject({
      stdout: '',
    });
  });

  test('is handed to the sandbox with all that the configuration says', async () => {
    const { workspace } = temporaryWorkspace();
    mkdirSync(join(workspace, 'src'));
    const sandbox = unusableSandbox();
    const hidden = ['.state', join(workspace, 's.db'), '/elsewhere/s.db', workspace, `${workspace}-other/s.db`];
    const options = { hidden, variables: { CI: '1' }, limits: { processes: 7 }, shell: '/bin/bash' };
    const working_directory = join(workspace, 'src');
    await failure(shellToolOf(options, workspace, sandbox), { command, working_directory });
    expect(sandbox.asked).toMatchObject([
      {
        argv: ['/bin/bash', '-c', command],
        workspace,
        workingDirectory: join(workspace, 'src'),
        environment: { CI: '1' },
        hidden: [join(workspace, '.state'), join(workspace, 's.db')],
        limits: { processes: 7, cpuSeconds: 600 },
      },
    ]);
  });
});

describe('the working directory', () => {
  test.each([
    ['..', 'sandbox_denied'],
    ['/', 'sandbox_denied'],
    ['src/../../outside', 'sandbox_denied'],
    ['link', 'sandbox_denied'],
    ['link/below', 'sandbox_denied'],
    ['file', 'not_a_directory'],
    ['missing', 'path_not_found'],
    ['', 'invalid_path'],
    ['a\0b', 'invalid_path'],
  ])('%j fails with %s, before anything is run', async (working_directory, code) => {
    const { workspace, outside } = temporaryWorkspace();
    mkdirSync(join(outside, 'below'));
    symlinkSync(outside, join(workspace, 'link'));
    writeFileSync(join(workspace, 'file'), '');
    const sandbox = unusableSandbox();
    expect(await failure(shellToolOf({}, workspace, sandbox), { command, working_directory })).toBe(code);
    expect(sandbox.asked).toEqual([]);
  });
});

describe('what a model is told', () => {
  const schemaOf = (options: object) => {
    const { inputSchema } = shellToolOf(options, '/w');
    return z.toJSONSchema(inputSchema as z.ZodType, { io: 'input' });
  };

  test('each member has a description, and no other is taken', () => {
    for (const mode of ['safe', 'unrestricted']) {
      const schema = schemaOf({ mode });
      expect(schema).toMatchObject({ type: 'object', required: ['command'], additionalProperties: false });
      for (const [member, property] of Object.entries(schema.properties ?? {})) {
        expect(property, member).toHaveProperty('description');
      }
    }
  });

  test('to run outside is offered only where it is configured', async () => {
    expect(Object.keys(schemaOf({}).properties ?? {})).toEqual([
      'command',
      'working_directory',
      'timeout_ms',
      'description',
    ]);
    expect(Object.keys(schemaOf({ mode: 'unrestricted' }).properties ?? {})).toContain('sandbox');
    const { workspace } = temporaryWorkspace();
    const outside = { command: 'echo ran >ran', sandbox: 'unrestricted', reason: 'because' };
    expect(await failure(shellToolOf({}, workspace, unusableSandbox()), outside)).toBe('PERDURE_TOOL_INPUT');
  });
});

describe('what the runtime is told', () => {
  const tool = shellToolOf({ mode: 'unrestricted' }, '/w');

  test('a call is about its command, and is never repeated by itself', () => {
    expect(tool.effect).toBe('once');
    expect(tool.reconcile).toBeUndefined();
    expect(tool.permissionSubjects?.({ command: 'git status' } as never)).toEqual(['git status']);
    expect(tool.permissionSubjects?.({ command: 7 } as never)).toEqual(['']);
  });

  test('a person must agree to a command outside the sandbox, and reads why', () => {
    const outside = { command, sandbox: 'unrestricted', reason: 'It needs the network.' };
    expect(tool.confirmation?.(outside as never)).toBe(
      'The command is to run outside the sandbox: It needs the network.',
    );
    expect(tool.confirmation?.({ command } as never)).toBeUndefined();
    expect(tool.confirmation?.({ command, sandbox: 'safe' } as never)).toBeUndefined();
  });

  test.each([
    [{ command: '' }],
    [{ command: 'a\0b' }],
    [{ command: 'x'.repeat(140_000) }],
    [{ command, timeout_ms: 0 }],
    [{ command, timeout_ms: 10_000_000 }],
    [{ command, sandbox: 'unrestricted' }],
    [{ command, sandbox: 'unrestricted', reason: '  ' }],
    [{ command, sandbox: 'none' }],
    [{ command, other: 1 }],
  ])('arguments %j are refused', async (input) => {
    expect(await failure(tool, input)).toBe('PERDURE_TOOL_INPUT');
  });
});
