import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { scriptByRound } from './script.js';
import { modelServerMain, spawnModelServer } from './spawn-model-server.js';

const execArgv = ['--import', 'tsx', '--conditions=@perdure/source'];
const chat = { model: 'm', messages: [{ role: 'user', content: 'go' }] };

async function ask(url: string): Promise<unknown> {
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(chat) });
  return response.json();
}

describe('the model server as a process of its own', () => {
  test('answers by its script, tells what it was asked, and ends', async () => {
    const server = await spawnModelServer({ script: scriptByRound([{ text: 'hello' }]), execArgv });
    expect(server.pid).not.toBe(process.pid);
    expect(await ask(server.url)).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
    expect(await server.requests()).toEqual([chat]);
    await server.close();
    expect(isAlive(server.pid)).toBe(false);
  });

  test('says why it does not start', async () => {
    const script = [{ text: 'x', deltas: ['y'] }];
    await expect(spawnModelServer({ script, execArgv })).rejects.toMatchObject({
      code: 'PERDURE_CONFIGURATION',
      data: { reason: expect.stringContaining('script.0.deltas') as string },
    });
  });

  test('does not outlive its parent', async () => {
    const code = `
      import { spawnModelServer } from ${JSON.stringify(new URL('./spawn-model-server.ts', import.meta.url).href)};
      const { pid } = await spawnModelServer({ script: [], execArgv: ${JSON.stringify(execArgv)} });
      console.log(pid);
    `;
    const parent = spawn(process.execPath, [...execArgv, '--input-type=module', '--eval', code]);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    parent.kill('SIGKILL');
    const pid = Number(line.toString());
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });

  test('takes its script and its port as arguments', async () => {
    const child = spawn(process.execPath, [...execArgv, modelServerMain, '[{"text":"from arguments"}]', '0']);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url, port } = JSON.parse(line.toString()) as { url: string; port: number };
    expect(url).toBe(`http://127.0.0.1:${port}/v1`);
    expect(await ask(url)).toMatchObject({ choices: [{ message: { content: 'from arguments' } }] });
    const ended = once(child, 'exit');
    child.kill();
    expect(await ended).toEqual([null, 'SIGTERM']);
    const wrong = promisify(execFile)(process.execPath, [...execArgv, modelServerMain, '{"rules":']);
    await expect(wrong).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('JSON') as string });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
