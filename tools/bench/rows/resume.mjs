// Row 10: the process that ran a session was killed in the middle of a turn, and a new one goes on: milliseconds to the
// first model call from the start of its runtime, and from the call. On a server it has no file of the dead node.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPerdure } from '../lib/perdure.mjs';
import { serverOf } from '../lib/servers.mjs';
import { hooks, model, prose } from '../lib/work.mjs';

/** Facts of a step with one call. */
const FACTS = 6;

/** Of a process with this name there is one, so that nobody has to wait until the lease of the dead one runs out. */
const NODE = 'bench';

const subjectOf = (contender, folder, name, addresses, options) =>
  openPerdure(folder, {
    store: contender,
    place: { address: addresses[serverOf(contender)], name },
    nodeId: NODE,
    ...options,
  });

/** Dies in its last model call. */
export async function prepare(contender, folder, { events, addresses }) {
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  writeFileSync(join(folder, 'name'), name);
  const rounds = Math.round(events / FACTS);
  const subject = await subjectOf(contender, folder, name, addresses, {});
  let calls = 0;
  hooks.onModelCall = () => {
    calls += 1;
    if (calls > rounds) process.kill(process.pid, 'SIGKILL');
  };
  await subject.turn(name, prose(`#rounds=${rounds} `));
  throw new Error('it was not killed');
}

/** Its model never answers, and the process ends with it: the next one finds the session as it was. */
export async function measure(contender, folder, { addresses }) {
  const name = readFileSync(join(folder, 'name'), 'utf8');
  const own = serverOf(contender) === undefined ? folder : join(folder, 'other-node');
  mkdirSync(own, { recursive: true });
  const silent = { ...model, doStream: () => (hooks.onModelCall(), new Promise(() => undefined)) };
  const called = new Promise((resolve) => (hooks.onModelCall = () => resolve(performance.now())));
  const began = performance.now();
  const subject = await subjectOf(contender, own, name, addresses, { model: silent });
  const opened = performance.now();
  await (await subject.agent.sessions.get(name)).resume();
  const first = await called;
  const { store } = subject.runtime.services;
  const { head } = await store.read(`session-_.${name}`, { direction: 'backwards', limit: 1 });
  return { events: head + 1, openToModelMs: first - began, resumeToModelMs: first - opened };
}
