import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFacts, type TestFact } from '@perdure/core/testing';
import type { SessionSummary } from '@perdure/plugin-api';
import { bundle } from '../fixtures/bundle.js';
import { openTestStores } from '../fixtures/test-stores.js';

const MB = 1024 * 1024;
const ARTIFACT_MB = 200;
/** Facts about as large as the store takes them, and the heap in MB: 300 and 256 show more and take a minute. */
const LARGE_FACTS = Number(process.env['PERDURE_LARGE_FACTS'] ?? 120);
const HEAP_MB = Number(process.env['PERDURE_LARGE_HEAP'] ?? 100);

const root = mkdtempSync(join(tmpdir(), 'perdure-sessions-'));
let program = '';
beforeAll(async () => {
  program = await bundle(new URL('sessions-process.fixture.ts', import.meta.url));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function place(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

interface Started {
  readonly ready: Promise<void>;
  readonly go: () => void;
  /** The last line that it printed, parsed. */
  readonly ended: Promise<unknown>;
}

function start(order: object, ...flags: readonly string[]): Started {
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let out = '';
  let err = '';
  let tell: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (tell = resolve));
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
    if (out.includes('ready\n')) tell();
  });
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const ended = new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(out.trim().split('\n').at(-1) ?? ''));
      else reject(new Error(`the process ended with ${code ?? signal}: ${err}`));
    });
  });
  return { ready, go: () => child.stdin.write('go\n'), ended };
}

test(
  'of two processes that make the same sessions at the same moment, one makes each',
  { timeout: 60_000 },
  async () => {
    const create = Array.from({ length: 40 }, (_, index) => `s-${index}`);
    const folder = place('race');
    const both = [start({ folder, create }), start({ folder, create })];
    await Promise.all(both.map(({ ready }) => ready));
    for (const { go } of both) go();
    const made = (await Promise.all(both.map(({ ended }) => ended))) as string[][];
    expect(made.flat().sort()).toEqual([...create].sort());
  },
);

/** A session that waits for a person, with a large artifact, and messages and outputs as large as the store takes. */
async function suspendedSession(folder: string): Promise<void> {
  const stores = await openTestStores(folder);
  const digest = await stores.artifacts.put(undefined, Buffer.alloc(ARTIFACT_MB * MB, 'all of it'));
  const usage = {
    inputTokens: 1,
    outputTokens: 1,
    totalTokens: 2,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const text = `the needle ${'x'.repeat(0.9 * MB)}`;
  const call = { purpose: 'step', attempt: 1, model: 'm', provider: 'p', modelId: 'm-1', startedAt: 0, endedAt: 1 };
  const artifact = { digest, bytes: ARTIFACT_MB * MB, mediaType: 'text/plain' };
  const prompt = { promptId: 'p', turnId: 't', messageId: 'p', mode: 'turn', parts: [{ type: 'text', text }] };
  const first: TestFact[] = [
    { type: 'SessionCreated', payload: { agentId: 'clerk', labels: {} } },
    { type: 'PromptAccepted', payload: prompt },
    { type: 'RunStarted', payload: { runId: 'r', turnId: 't', deciderVersion: 2 } },
    { type: 'ArtifactStored', payload: { artifact } },
  ];
  const large = Array.from({ length: LARGE_FACTS }, (_, index): TestFact => {
    const parts = [{ type: 'text', text: `${index} ${text}` }];
    const answer = { ...call, stepId: `t.${index}`, messageId: `m${index}`, parts, usage, finish: { unified: 'stop' } };
    if (index % 2 === 0) return { type: 'ModelAnswered', payload: answer };
    return { type: 'ToolCallSettled', payload: { callId: `c${index}`, status: 'completed', output: text, endedAt: 1 } };
  });
  const about = {
    callId: 'c',
    name: 'pay',
    input: {},
    effect: 'once',
    argumentDigest: 'sha256:1',
    gates: [],
    policy: 'p',
  };
  const last = [
    { type: 'ApprovalRequested', payload: about },
    { type: 'RunEnded', payload: { runId: 'r', turnId: 't', status: 'handed-over', steps: 1, usage } },
  ];
  let expected: number | 'none' = 'none';
  for (const fact of encodeFacts('s', [...first, ...large, ...last])) {
    const outcome = await stores.events.append('session-_.s', [fact], { expected });
    if (outcome.status !== 'stored') throw new Error(`not stored: ${outcome.status}`);
    expected = outcome.revision;
  }
  await stores.close();
}

test(
  'a suspended session that is larger than the heap, with an artifact of 200 MB, is listed and found',
  { timeout: 300_000 },
  async () => {
    const folder = place('large');
    await suspendedSession(folder);
    for (const time of ['first', 'again']) {
      const { items, total, found } = (await start({ folder }, `--max-old-space-size=${HEAP_MB}`).ended) as {
        readonly items: readonly SessionSummary[];
        readonly total: number;
        readonly found: readonly string[];
      };
      expect([time, total, found]).toEqual([time, 1, ['s']]);
      const [summary] = items;
      expect(summary).toMatchObject({ id: 's', status: 'waiting', messages: 1 + LARGE_FACTS / 2, modelLabel: 'm-1' });
      expect(summary?.title).toMatch(/^the needle x+…$/);
      expect(summary?.preview).toMatch(/^\d+ the needle x+$/);
      expect(summary?.historyBytes).toBeGreaterThan(LARGE_FACTS * 0.9 * MB);
    }
  },
);
