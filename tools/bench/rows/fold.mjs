// Row 7: how many facts a second are folded, parsed already, and read, parsed, checked and folded from the store.
import { loadSession } from '@perdure/core';
import { evolve, initialState } from '@perdure/core/testing';
import { isCoreType } from '@perdure/events';
import { median } from '../lib/measure.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { prose } from '../lib/work.mjs';

export async function measure(_, folder, { steps, samples }) {
  const subject = await openPerdure(folder);
  await subject.turn('s', prose(`#rounds=${steps} `));
  const { store, facts: registry } = subject.runtime.services;
  const parsed = [];
  for (let from = 0; from !== undefined;) {
    const page = await store.read('session-_.s', { from });
    for (const { type, payload, revision } of page.facts) {
      if (isCoreType(type)) parsed.push([type, JSON.parse(payload), { revision, time: revision }]);
    }
    from = page.next;
  }
  const folds = [];
  const loads = [];
  for (let sample = 0; sample < samples; sample++) {
    let began = performance.now();
    let state = initialState;
    for (const [type, payload, place] of parsed) state = evolve(state, type, payload, place);
    folds.push(parsed.length / ((performance.now() - began) / 1_000));
    if (state.messages.length < steps) throw new Error('the fold lost messages');
    began = performance.now();
    const loaded = await loadSession(store, 'session-_.s', registry);
    loads.push(parsed.length / ((performance.now() - began) / 1_000));
    if (loaded.revision !== parsed.length - 1) throw new Error('the load lost facts');
  }
  await subject.close();
  return { facts: parsed.length, foldedPerSecond: median(folds), loadedPerSecond: median(loads) };
}
