import { spawn } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, type ModelServer, type ScriptRules } from '@perdure/testing';
import { root } from '../architecture/workspace.js';
import { hasSandbox } from '../fixtures/sandbox.js';
import { CliPlace } from './cli-process.js';

const when = (userTextContains: string, toolResults: number) => ({ userTextContains, toolResults });
const write = { calls: [{ name: 'write', input: { file_path: 'friday.md', content: 'Closed.\n' } }] };
const script: ScriptRules = {
  rules: [
    {
      when: when('office', 0),
      answer: { text: 'I look at what there is.', calls: [{ name: 'list', input: { path: '.' } }] },
    },
    { when: when('office', 1), answer: write },
    { when: when('office', 2), answer: { text: 'I may not write it down.' } },
    { when: when('again', 0), answer: write },
    { when: when('again', 1), answer: { text: 'It is written down.' } },
    { when: when('time', 0), times: 1, answer: { stallAfter: 0 } },
    { when: when('time', 0), answer: { text: 'Here I am.' } },
  ],
};

let server: ModelServer;
let place: CliPlace;
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script, models: ['small-1'] });
  place.write('workspace/perdure.config.json', JSON.stringify({ baseUrl: server.url, modelId: 'small-1' }));
  place.environment['PATH'] = `${place.path('bin')}:${place.environment['PATH']}`;
  const command = `exec "${process.execPath}" --conditions=@perdure/source "${place.main}" "$@"`;
  chmodSync(place.write('bin/perdure', `#!/bin/sh\n${command}\n`), 0o755);
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

interface Example {
  readonly command: string;
  readonly output: string;
}

/** The commands of the README with what they print, in their order. */
function examples(readme: string): readonly Example[] {
  return [...readme.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...lines] = text.split('\n');
        return { command, output: lines.join('\n') };
      }),
  );
}

/**
 * What differs from run to run, or with every fact that is added to a step, is made alike; `…` in the README stands for
 * anything.
 */
function comparable(text: string): string {
  return text
    .replaceAll(place.workspace, '/home/me/notes')
    .replace(/\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d{3}Z)?/g, 'TIME')
    .replace(/v\d+\.\d+\.\d+/g, 'vNODE')
    .replace(/\d+\.\d+\.\d+ of \S+/g, 'SQLITE')
    .replace(/\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b/g, 'HASH')
    .replace(/^ *\d+(?= )/gm, 'REVISION')
    .replace(/(revision|turn":) ?\d+/g, '$1 N')
    .replace(/\d+ (facts|inputs|derived)/g, 'N $1')
    .replace(/^\d+$/gm, 'N')
    .replace(/ +/g, ' ')
    .trim();
}

function pattern(output: string): RegExp {
  const text = comparable(output).replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${text.replaceAll('…', '.*')}$`);
}

/** Runs a line as a shell does, both outputs in one. A process whose machine loses power is killed at its model. */
function execute(command: string): Promise<string> {
  const before = server.requests.length;
  const child = spawn('sh', ['-c', `${command.startsWith('perdure run "Take') ? 'exec ' : ''}${command}`], {
    cwd: place.workspace,
    env: place.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (data) => (text += data));
  const watch = setInterval(() => {
    if (command.includes('loses power') && server.requests.length > before) child.kill('SIGKILL');
  }, 10);
  return new Promise((resolve) => {
    child.once('close', () => {
      clearInterval(watch);
      resolve(text);
    });
  });
}

// Without a sandbox runs say so, as the README of it describes.
test.skipIf(!hasSandbox)(
  'the README of the command shows what the command does',
  async () => {
    const all = examples(readFileSync(join(root, 'packages/cli/README.md'), 'utf8'));
    expect(all.length).toBeGreaterThan(12);
    for (const { command, output } of all) {
      expect(comparable(await execute(command)), command).toMatch(pattern(output));
    }
  },
  120_000,
);

test('it leaves no command out', () => {
  const readme = readFileSync(join(root, 'packages/cli/README.md'), 'utf8');
  const used = examples(readme).map(({ command }) => command);
  const commands = ['run', 'resume', 'doctor', 'plugins list', 'plugins new'];
  const ofSessions = ['list', 'show', 'events', 'verify', 'anchor', 'replay', 'export', 'search', 'archive', 'restore'];
  for (const name of [...commands, ...ofSessions.map((each) => `sessions ${each}`)]) {
    expect(
      used.some((command) => command.startsWith(`perdure ${name}`)),
      name,
    ).toBe(true);
  }
});
