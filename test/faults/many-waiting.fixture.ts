import { startWaitingNode } from './waiting.fixture.js';

/**
 * Has many sessions wait for people in one process: `{ folder, sessions, expiresInMs? }` as JSON in the first argument,
 * started with --expose-gc. Prints what the heap holds before and then, and what came of answers to some of them.
 */
const order = JSON.parse(process.argv[2] ?? '{}') as { readonly folder: string; readonly sessions: number };
const { gc } = globalThis;
if (gc === undefined) throw new Error('it is started with --expose-gc');

const { runtime, agent } = await startWaitingNode({ folder: order.folder, waitingGraceMs: 50 });
const { store } = runtime.services;

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc?.();
  }
  return process.memoryUsage().heapUsed;
}

async function countOf(status: string): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof agent.sessions.list>> = await agent.sessions.list({
      limit: 500,
      ...(cursor === null ? {} : { cursor }),
    });
    count += page.items.filter((item) => item.status === status).length;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return count;
}

const isReleased = async (id: string): Promise<boolean> =>
  (await store.read(`session-_.${id}`, { direction: 'backwards', limit: 1 })).facts[0]?.type === 'OwnershipReleased';

// Everything that the first session brings along is part of the baseline.
const first = await agent.sessions.create({ sessionId: 'warm' });
await first.prompt('go');
while (!(await isReleased('warm'))) await new Promise((resolve) => setTimeout(resolve, 10));
await countOf('waiting');
const before = await heapUsed();

const began = performance.now();
// A caller keeps what it was given: the handle of the session and the promise of the turn's end.
const held: {
  readonly id: string;
  readonly finished: Promise<{ readonly text: string }>;
  readonly session: unknown;
}[] = [];
const name = (index: number): string => `s${index}`;
let next = 0;
const work = async (): Promise<void> => {
  for (let index = next++; index < order.sessions; index = next++) {
    const session = await agent.sessions.create({ sessionId: name(index) });
    const { finished } = await session.prompt('go');
    held.push({ id: name(index), finished, session });
  }
};
await Promise.all(Array.from({ length: 32 }, work));
for (const { id } of held) while (!(await isReleased(id))) await new Promise((resolve) => setTimeout(resolve, 20));
const createdMs = Math.round(performance.now() - began);
const waiting = await countOf('waiting');
const after = await heapUsed();

const step = Math.max(1, Math.floor(held.length / 20));
const sample = held.filter((_, index) => index % step === 0);
const texts: string[] = [];
for (const { id, finished } of sample) {
  const session = await agent.sessions.get(id);
  for (const { id: call } of await session.interactions()) {
    await session.respond({ id: call, decision: 'allow', by: 'ada' });
  }
  texts.push((await finished).text);
}
const disposing = performance.now();
await runtime.dispose();
const disposedMs = Math.round(performance.now() - disposing);
const report = { before, after, waiting, createdMs, disposedMs, sample: sample.length, texts };
process.stdout.write(`\n${JSON.stringify(report)}\n`);
