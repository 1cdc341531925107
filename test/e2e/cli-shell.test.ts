import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startModelServer, type ModelServer, type ScriptRules } from '@perdure/testing';
import { root } from '../architecture/workspace.js';
import { hasSandbox } from '../fixtures/sandbox.js';
import { bundledPlugin, CliPlace, jsonLines } from './cli-process.js';

/** The model runs what the prompt says behind "sh:", then writes a file, then reads out what came of the command. */
function scriptOf(command: string, more: object = {}): ScriptRules {
  const write = { name: 'write', input: { file_path: 'granted.txt', content: 'granted' } };
  return {
    rules: [
      { when: { toolResults: 0 }, answer: { calls: [{ name: 'shell_exec', input: { command, ...more } }] } },
      { when: { toolResults: 1 }, answer: { calls: [write] } },
      { answer: { text: 'Done.' } },
    ],
  };
}

let makePlace: () => CliPlace;
let place: CliPlace;
const servers: ModelServer[] = [];
const places: CliPlace[] = [];
beforeAll(async () => {
  makePlace = await CliPlace.builder();
}, 60_000);
beforeEach(() => {
  place = makePlace();
  places.push(place);
});
afterAll(async () => {
  for (const server of servers) await server.close();
  for (const each of places) each.remove();
});

/** `sandbox` configures the plugin of that name, in place of the default one. */
async function configure(script: ScriptRules, more: object = {}, sandbox?: object): Promise<void> {
  const server = await startModelServer({ script });
  servers.push(server);
  const config = { baseUrl: server.url, modelId: 'small-1', ...more };
  if (sandbox === undefined) {
    place.write('workspace/perdure.config.json', JSON.stringify(config));
    return;
  }
  place.write(
    'workspace/perdure.config.mjs',
    `import plugin from '${await bundledPlugin('sandbox-bubblewrap')}';
     export default { ...${JSON.stringify(config)}, plugins: [{ plugin, config: ${JSON.stringify(sandbox)} }] };`,
  );
}

interface ToldFact {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

async function factsOf(session: string, flags: readonly string[] = []): Promise<readonly ToldFact[]> {
  const { out } = await place.run(['sessions', 'export', session, '--facts', ...flags]);
  return jsonLines(out)
    .slice(1)
    .map((line) => line as { type: string; payload: string })
    .map(({ type, payload }) => ({ type, payload: JSON.parse(payload) as ToldFact['payload'] }));
}

async function shellOutput(session: string, flags: readonly string[] = []): Promise<string> {
  const settled = (await factsOf(session, flags)).find(({ type }) => type === 'ToolCallSettled');
  const { stdout = '', stderr = '' } = (settled?.payload['output'] ?? {}) as Record<string, string>;
  return `${stdout}${stderr}`;
}

describe.skipIf(!hasSandbox)('perdure run with a sandbox', () => {
  test('has commands, each under the rules, closed in', async () => {
    await configure(scriptOf('cat "$HOME_OF_TEST/secret" ../secret; env; echo made >made.txt'));
    const secret = 'the-secret-of-the-host';
    place.write('secret', secret);
    const denied = await place.run(['run', 'go', '--session', 'd'], { HOST_SECRET: secret });
    expect(denied.error).toContain('[denied] shell_exec');
    expect(denied.error).toContain("--allow 'shell_exec(");
    expect(existsSync(join(place.workspace, 'made.txt'))).toBe(false);
    const rule = ['--allow', 'shell_exec'];
    const ran = await place.run(['run', 'go', '--session', 'a', ...rule], { HOST_SECRET: secret });
    expect(ran.error).toContain('[completed] shell_exec');
    expect(readFileSync(join(place.workspace, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await shellOutput('a')).not.toContain(secret);
    const off = await place.run(['run', 'go', '--session', 'o', '--shell', 'off', ...rule]);
    expect(off.error).toContain('There is no tool "shell_exec"');
    // Each of the two is decided again alike, although one had the tool and the other had none.
    for (const session of ['a', 'o']) {
      const replayed = await place.run(['sessions', 'replay', session, '--verify', ...rule]);
      expect(replayed).toMatchObject({ code: 0 });
    }
  }, 60_000);

  test('cannot let its own calls pass, nor write the log, with all of Perdure at hand', async () => {
    // The command itself is there to be run, by a configuration that shows the repository inside.
    const isOfSystem = process.execPath.startsWith('/usr/');
    const sandbox = { readOnlyPaths: isOfSystem ? [root] : [root, process.execPath] };
    const state = place.environment['XDG_STATE_HOME'] ?? '';
    const perdure = `XDG_STATE_HOME=${state} ${process.execPath} --conditions=@perdure/source ${place.main}`;
    const command = [
      `ls -A ${state} ${state}/perdure; head -c 6 ${state}/perdure/perdure.db`,
      `echo forged >>${state}/perdure/perdure.db && echo ESCAPED`,
      `${perdure} --version; ${perdure} approve s -w /tmp; ${perdure} stop s -w /tmp`,
      // What it keeps there itself is gone with the command.
      `mkdir -p ${state}; echo forged >>${state}/forged`,
    ].join('\n');
    await configure(scriptOf(command, { timeout_ms: 60_000 }), {}, sandbox);
    const run = place.start(['run', 'go', '--session', 's', '--allow', 'shell_exec', '--approvals', 'wait']);
    await run.until('(or perdure deny)');
    const told = await shellOutput('s');
    // Perdure ran inside, and there is no such session.
    expect(told).toMatch(/^\d+\.\d+\.\d+$/m);
    expect(told.match(/PERDURE_SESSION_NOT_FOUND/g)).toHaveLength(2);
    expect(told).toContain(`cannot access '${state}': No such file or directory`);
    expect(told).not.toMatch(/ESCAPED|SQLite/);
    expect(existsSync(join(state, 'forged'))).toBe(false);
    expect(JSON.parse((await place.run(['interactions', 's', '--json'])).out)).toHaveLength(1);
    expect(existsSync(join(place.workspace, 'granted.txt'))).toBe(false);
    expect(await place.run(['deny', 's'])).toMatchObject({ code: 0 });
    expect((await run.ended).code).toBe(0);
    const resolved = (await factsOf('s')).filter(({ type }) => type === 'ApprovalResolved');
    expect(resolved).toMatchObject([{ payload: { decision: 'deny' } }]);
    expect(await place.run(['sessions', 'verify', 's'])).toMatchObject({ code: 0 });
  }, 120_000);

  test('cannot reach a store or a configuration that is inside the workspace', async () => {
    const command = `cat s.db s.db-wal s.db-tail perdure.config.json | head -c 4096; ls -A s.db-nodes
      echo forged >s.db && echo ESCAPED; rm -f s.db && echo ESCAPED; mv s.db t.db && echo ESCAPED
      ln -f s.db l.db && echo ESCAPED; echo "{}" >perdure.config.json && echo ESCAPED
      rm -rf s.db-nodes && echo ESCAPED`;
    await configure(scriptOf(command), { store: { path: 's.db' } });
    const ended = await place.run(['run', 'go', '--session', 's', '--allow', 'shell_exec']);
    expect(ended.code).toBe(0);
    expect(ended.error).toContain('is inside the workspace');
    const told = await shellOutput('s');
    expect(told).not.toMatch(/ESCAPED|SQLite|small-1/);
    for (const name of ['s.db', 's.db-nodes']) expect(told).toContain(`cannot remove '${name}'`);
    expect(await place.run(['sessions', 'verify', 's'])).toMatchObject({ code: 0 });
  }, 60_000);
});

describe('perdure run without a sandbox', () => {
  const broken = { program: '/nonexistent/bwrap' };

  test('has no commands and says so, with the fix; never is one run bare', async () => {
    await configure(scriptOf('touch bare'), {}, broken);
    const ended = await place.run(['run', 'go', '--session', 's', '--allow', 'shell_exec']);
    expect(ended.code).toBe(0);
    expect(ended.error).toMatch(/Commands cannot be closed in: The program \/nonexistent\/bwrap is not there.*apt-get/);
    expect(ended.error).toContain('There is no tool for commands');
    expect(ended.error).toContain('There is no tool "shell_exec"');
    expect(existsSync(join(place.workspace, 'bare'))).toBe(false);
    const quiet = await place.run(['run', 'go', '--session', 'q', '--shell', 'off']);
    expect(quiet.error).not.toContain('There is no tool for commands');
  }, 60_000);

  test('is refused when commands are asked for, before anything is kept', async () => {
    await configure(scriptOf('touch bare'), {}, broken);
    const refused = await place.run(['run', 'go', '--session', 's', '--shell', 'safe']);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('apt-get install bubblewrap');
    expect(refused.error).toContain('--shell off');
    expect((await place.run(['sessions', 'show', 's'])).error).toContain('PERDURE_SESSION_NOT_FOUND');
  }, 60_000);
});
