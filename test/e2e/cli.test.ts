import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { CliPlace, envelopesOf, jsonLines, sessionOf } from './cli-process.js';

const KEY = 'sk-very-secret-0123456789';
const rounds = scriptByRound([
  { text: 'Let me look.', calls: [{ name: 'list', input: { path: '.' } }] },
  { calls: [{ name: 'write', input: { file_path: "it's new/a.txt", content: 'hello' } }] },
  { text: 'That is all.', deltas: 3 },
]);

let server: ModelServer;
let makePlace: () => CliPlace;
let place: CliPlace;
let model: readonly string[];
const places: CliPlace[] = [];
beforeAll(async () => {
  makePlace = await CliPlace.builder();
  server = await startModelServer({ script: rounds, models: ['small-1'] });
  model = ['--base-url', server.url, '--model-id', 'small-1'];
}, 60_000);
afterAll(async () => {
  await server.close();
  for (const each of places) each.remove();
});
beforeEach(() => {
  place = makePlace();
  places.push(place);
});
const written = (): string => join(place.workspace, "it's new/a.txt");

describe('perdure run', () => {
  test('prints the answer on standard output and what happened on standard error', async () => {
    const ended = await place.run(['run', 'do it', ...model, '--allow', 'write', '--shell', 'off']);
    expect(ended.out).toBe('Let me look.\nThat is all.\n');
    expect(ended.error.split('\n')).toEqual([
      expect.stringMatching(/^session [0-9a-f-]{36}$/),
      '[completed] list .',
      "[completed] write it's new/a.txt",
      'tokens: 30 in, 15 out',
      '',
    ]);
    expect(ended.code).toBe(0);
    expect(readFileSync(written(), 'utf8')).toBe('hello');
  });

  test('denies what nobody can be asked about, and names the very flag that allows it', async () => {
    const denied = await place.run(['run', 'do it', ...model]);
    expect(denied.error).toContain("[denied] write it's new/a.txt");
    expect(existsSync(written())).toBe(false);
    const [, flag = ''] = /--allow (.+)$/m.exec(denied.error) ?? [];
    expect(flag).toBe(`'write(it'\\''s new/a.txt)'`);
    const rule = flag.slice(1, -1).replaceAll(`'\\''`, "'");
    const allowed = await place.run(['run', 'do it', ...model, '--allow', rule]);
    expect(allowed.error).toContain("[completed] write it's new/a.txt");
    expect(existsSync(written())).toBe(true);
  });

  test('gives envelopes with --json, and the result at the end', async () => {
    const { out, error, code } = await place.run([
      'run',
      'do it',
      ...model,
      '--json',
      '--session',
      's',
      '--shell',
      'off',
    ]);
    expect(code).toBe(0);
    expect(error).toBe('');
    const lines = jsonLines(out);
    const types = envelopesOf(lines).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(['session_created', 'prompt_accepted', 'ownership_taken']);
    expect(types.at(-1)).toBe('agent_end');
    expect(lines.at(-1)).toMatchObject({
      result: {
        session: 's',
        status: 'completed',
        text: 'That is all.',
        exitCode: 0,
        denied: [{ tool: 'write', rule: "write(it's new/a.txt)", code: 'PERDURE_TOOL_NOBODY_TO_ASK' }],
      },
    });
    expect((lines.at(-1) as { result: object }).result).not.toHaveProperty('resume');
  });

  test('goes on with a session, and refuses another workspace than its own', async () => {
    const first = await place.run(['run', 'do it', ...model]);
    const session = sessionOf(first);
    place.write('elsewhere/x', '');
    const again = await place.run(['run', 'and again', '--session', session, ...model, '-w', place.workspace]);
    expect(again.code).toBe(0);
    const wrong = await place.run(['run', 'no', '--session', session, ...model, '-w', place.path('elsewhere')]);
    expect(wrong.code).toBe(2);
    expect(wrong.error).toContain(place.workspace);
    const shown = await place.run(['sessions', 'show', session, '--json']);
    const { messages } = JSON.parse(shown.out) as { readonly messages: readonly { readonly role: string }[] };
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(2);
  });

  test('fails with 1 when the turn fails, and says what to do', async () => {
    const broken = await startModelServer({ script: [{ error: { status: 401, message: `no ${KEY}` } }] });
    const flags = ['--base-url', broken.url, '--model-id', 'small-1'];
    const ended = await place.run(['run', 'do it', ...flags], { PERDURE_API_KEY: KEY });
    expect(ended.code).toBe(1);
    expect(ended.error).toContain('(PERDURE_MODEL_AUTHENTICATION)');
    expect(ended.error).toContain('PERDURE_API_KEY');
    expect(broken.requestHeaders[0]?.authorization).toBe(`Bearer ${KEY}`);
    const doctor = await place.run(['doctor', ...flags, '--json'], { PERDURE_API_KEY: KEY });
    const events = await place.run(['sessions', 'events', sessionOf(ended), '--facts', '--json']);
    for (const { out, error } of [ended, doctor, events]) expect(`${out}${error}`).not.toContain(KEY);
    await broken.close();
  });

  test('ends quietly when its reader goes away, and says how to go on', async () => {
    const { child, ended } = place.start(['run', 'do it', ...model]);
    child.stdout?.destroy();
    const { error } = await ended;
    expect(error).not.toMatch(/EPIPE|at .*\.(?:ts|mjs):\d+/);
    expect(error).toMatch(/to go on: perdure resume|tokens:/);
  });
});

describe('configuration files', () => {
  const agent = 'instruction: "Be brief."';
  test.each([
    ['perdure.config.mjs', (data: string) => `export default { agent: { ${agent} }, ...${data} };`],
    [
      'perdure.config.ts',
      (data: string) =>
        `import { defineConfig, type PerdureConfig } from '@perdure/cli';
         const data: PerdureConfig = ${data};
         export default defineConfig({ agent: { ${agent} }, ...data });`,
    ],
    ['perdure.config.json', (data: string) => data],
  ])('%s gives the model, the rules and the store', async (name, text) => {
    place.linkPackages();
    const data = {
      baseUrl: server.url,
      modelId: 'small-1',
      permissions: { allow: ['list', 'write'] },
      store: { path: 's.db' },
    };
    place.write(`workspace/${name}`, text(JSON.stringify(data)));
    place.write('workspace/deep/below/x', '');
    const ended = await place.run(['run', 'do it', '-w', join(place.workspace, 'deep/below')]);
    expect(ended.error).toContain('[completed] write');
    expect(ended.code).toBe(0);
    expect(existsSync(join(place.workspace, 's.db'))).toBe(true);
  });

  test.each([
    ['json', '{"permissions":{"allow":["write("]}}', 'permissions.allow.0'],
    ['json', '{"agent":{"limits":{"maxSteps":0}}}', 'agent.limits.maxSteps'],
    ['json', '{"secrets":{"a":"b"}}', 'secrets'],
    ['json', '{"modelid":"x"}', 'modelid'],
    ['json', '{"plugins":[{"plugin":"@perdure/no-such-plugin"}]}', '@perdure/no-such-plugin'],
    ['mjs', 'export default { agent: { model: { modelId: "x" } } };', 'agent.model'],
    ['mjs', 'export default { agent: { tools: { look: () => 1 } } };', 'agent.tools.look'],
    ['mjs', 'export const config = {};', 'default'],
    ['mjs', 'throw new Error("broken on purpose");', 'broken on purpose'],
    ['json', '{"modelId":"x"}', 'baseUrl'],
    ['json', '{"baseUrl":"x","modelId":"x","apiKeyEnv":"NO_SUCH_VARIABLE"}', 'NO_SUCH_VARIABLE'],
  ])('a bad one (%s: %s) is exit code 2 and names %s', async (extension, text, named) => {
    place.write(`workspace/perdure.config.${extension}`, text);
    const { code, error } = await place.run(['run', 'do it', '--json']);
    expect(code).toBe(2);
    const { message, code: errorCode } = (JSON.parse(error) as { error: { message: string; code: string } }).error;
    expect(message).toContain(named);
    expect(errorCode).toMatch(/^PERDURE_(?:CONFIGURATION|PLUGIN_NOT_FOUND)$/);
  });
});

describe('exit codes and errors', () => {
  test('2 for a wrong usage, with what is wrong and no stack', async () => {
    for (const args of [['run'], ['run', 'x', '--nonsense'], ['nonsense'], ['sessions'], ['run', ' ', ...model]]) {
      const { code, out, error } = await place.run(args);
      expect([args, code]).toEqual([args, 2]);
      expect(out).toBe('');
      expect(error).not.toBe('');
      expect(error).not.toMatch(/^ {4}at /m);
    }
    expect((await place.run(['run', 'do it'])).error).toContain('--base-url URL');
    expect((await place.run(['--help'])).out).toContain('5    the store cannot be used');
  });

  test('5 for a store that cannot be used', async () => {
    const store = place.write('no-database', 'this is no database, and long enough to be seen as none '.repeat(40));
    const { code, error } = await place.run(['sessions', 'list', '--store', store, '--json']);
    expect(code).toBe(5);
    expect(jsonLines(error)).toMatchObject([{ error: { code: 'PERDURE_STORE_DAMAGED' } }]);
  });

  test('stacks are shown when PERDURE_DEBUG asks for them', async () => {
    expect((await place.run(['sessions', 'show', 'none'], { PERDURE_DEBUG: '1' })).error).toMatch(/^ {4}at /m);
    const quiet = await place.run(['sessions', 'show', 'none']);
    expect(quiet.code).toBe(2);
    expect(quiet.error).not.toMatch(/^ {4}at /m);
  });
});

test('commands of plugins run beside the others', async () => {
  place.linkPackages();
  place.write(
    'workspace/perdure.config.ts',
    `import { AGENTS, CLI_COMMANDS, definePlugin, type AgentRegistry, type CliCommand } from '@perdure/plugin-api';
     import { z } from 'zod';
     const run = (agents: AgentRegistry): CliCommand['run'] => async (args, io) => {
       io.out(agents.list()[0].id + ' ' + args.join('+') + '\\n');
       return 7;
     };
     export default { plugins: [definePlugin({
       name: 'greeter', api: 1, version: '1.0.0', config: z.object({}), needs: [AGENTS], provides: [CLI_COMMANDS],
       setup: ({ get, provide }) => {
         provide(CLI_COMMANDS, { name: 'greet', summary: 'Greets.', run: run(get(AGENTS)) });
         return {};
       },
     })] };`,
  );
  expect(await place.run(['greet', 'a', '--b'])).toMatchObject({ code: 7, out: 'perdure a+--b\n' });
});

test('what goes into a pipe has no escape sequences', async () => {
  const { out, error } = await place.run(['run', 'do it', ...model]);
  expect(`${out}${error}`).not.toContain('\u001b');
});
