// Row 9: one turn of many steps on each store, and two appends for each step by the client of the server alone.
// Steps for each second, and how long single steps take.
import { randomUUID } from 'node:crypto';
import { median, percentile } from '../lib/measure.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { batchesOfStep, openRaw } from '../lib/raw-client.mjs';
import { serverOf } from '../lib/servers.mjs';
import { FINAL, hooks, prose } from '../lib/work.mjs';

export async function measure(contender, folder, { steps, samples, addresses }) {
  const server = serverOf(contender);
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  const place = { address: addresses[server], name };
  return contender.startsWith('raw-')
    ? ofRaw(await openRaw(server, place), await batchesOfStep(folder), steps, samples)
    : ofPerdure(await openPerdure(folder, { store: contender, place }), name, steps, samples);
}

async function ofPerdure(subject, name, steps, samples) {
  const text = prose(`#rounds=${steps} `);
  await subject.turn(`${name}-warm`, text);
  const times = [];
  const seconds = [];
  const commits = subject.commits();
  for (let sample = 0; sample < samples; sample++) {
    let last;
    hooks.onModelCall = () => {
      const now = performance.now();
      if (last !== undefined) times.push(now - last);
      last = now;
    };
    const began = performance.now();
    if ((await subject.turn(`${name}-${sample}`, text)) !== FINAL) throw new Error('wrong answer');
    seconds.push((performance.now() - began) / 1_000);
  }
  hooks.onModelCall = undefined;
  const commitsPerStep = (subject.commits() - commits) / (steps * samples);
  await subject.close();
  return { ...summary(times, seconds, steps), commitsPerStep };
}

async function ofRaw(client, batches, steps, samples) {
  const times = [];
  const seconds = [];
  // The first sample warms up, as the first turn does.
  for (let sample = 0; sample <= samples; sample++) {
    let next = 0;
    const began = performance.now();
    for (let step = 0; step < steps; step++) {
      const stepBegan = performance.now();
      for (const facts of batches) {
        await client.append(`s${sample}`, facts, next);
        next += facts.length;
      }
      if (sample > 0) times.push(performance.now() - stepBegan);
    }
    if (sample > 0) seconds.push((performance.now() - began) / 1_000);
  }
  await client.close();
  return { ...summary(times, seconds, steps), commitsPerStep: batches.length };
}

function summary(times, seconds, steps) {
  return {
    stepsPerSecond: steps / median(seconds),
    msPerStep: (median(seconds) * 1_000) / steps,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  };
}
