// Row 4: a session of thousands of messages is opened in a new process; milliseconds to its first model call.
import { openFloor } from '../lib/floor.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { hooks, prose } from '../lib/work.mjs';

/** Fills a store, in a process before the one that is measured. Perdure's session is made of real turns. */
export async function prepare(contender, folder, { messages }) {
  if (contender === 'floor') {
    const floor = await openFloor(folder);
    floor.seed(
      's',
      Array.from({ length: messages }, (_, n) => ({
        role: n % 2 === 0 ? 'user' : 'assistant',
        text: prose(`message ${n} `),
      })),
    );
    await floor.close();
    return {};
  }
  const perdure = await openPerdure(folder);
  for (let made = 0; made < messages; made += 202) await perdure.turn('s', prose('#rounds=100 '));
  await perdure.close();
  if (contender === 'perdure-without-snapshot') await forgetSnapshot(folder);
  return {};
}

async function forgetSnapshot(folder) {
  const perdure = await openPerdure(folder);
  await perdure.runtime.services.projections.clear('state:_.s');
  await perdure.runtime.dispose();
}

export async function measure(contender, folder) {
  let first;
  hooks.onModelCall = () => (first ??= performance.now());
  const began = performance.now();
  const subject = await (contender === 'floor' ? openFloor : openPerdure)(folder);
  const opened = performance.now();
  await subject.turn('s', prose('#rounds=1 '));
  await subject.close();
  return { openToModelMs: first - began, loadMs: first - opened };
}
