import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { killPointNames, type KillPoint } from './kill-plan.js';

const worker = fileURLToPath(new URL('./killed-worker.fixture.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'perdure-killing-'));
let undisturbed: readonly string[] = [];

/** Runs the worker; tells how it ended and what its journal holds. */
async function run(plan: string, name: string): Promise<{ code: unknown; signal: unknown; lines: readonly string[] }> {
  const path = join(folder, name);
  const nodeArguments = ['--import', 'tsx', '--conditions=@perdure/source', worker, path, plan];
  const child = spawn(process.execPath, nodeArguments, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [unknown, unknown];
  return { code, signal, lines: readFileSync(path, 'utf8').trimEnd().split('\n') };
}

function isPoint(line: string): boolean {
  return line.startsWith('point ');
}

function pointOf(line: string): KillPoint {
  return JSON.parse(line.slice('point '.length)) as KillPoint;
}

beforeAll(async () => {
  const { code, lines } = await run('record', 'undisturbed');
  expect(code).toBe(0);
  undisturbed = lines;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a process with kill points', () => {
  test('that records passes every kind of point, each under a name of its own, and ends in good order', () => {
    const points = undisturbed.filter(isPoint).map(pointOf);
    expect(new Set(points.map(({ point }) => point))).toEqual(new Set(killPointNames));
    expect(new Set(points.map((point) => JSON.stringify(point))).size).toBe(points.length);
    expect(undisturbed.slice(-2)).toEqual(['finally', 'exit']);
  });

  test('carries the types of a batch and the category of its stream', () => {
    const appends = undisturbed.filter(isPoint).map(pointOf);
    expect(appends.filter(({ point }) => point === 'append:after')).toEqual([
      { point: 'append:after', match: 'PromptAccepted', category: 'session', occurrence: 1 },
      { point: 'append:after', match: 'DraftDelta', category: 'draft', occurrence: 1 },
      { point: 'append:after', match: 'ModelAnswered+ToolCallStarted', category: 'session', occurrence: 1 },
      { point: 'append:after', match: 'ToolCallSettled', category: 'session', occurrence: 1 },
      { point: 'append:after', match: 'ModelAnswered', category: 'session', occurrence: 2 },
    ]);
  });

  test('tells of an append that was refused only that it was tried', () => {
    const started = undisturbed.filter(isPoint).map(pointOf);
    const refused = started.filter(({ match }) => match === 'ToolCallStarted').map(({ point }) => point);
    expect(refused).toEqual(['append:before']);
  });

  test('does not die at a point that it never comes to', async () => {
    const { code, lines } = await run('{"point":"tool:before","match":"add","occurrence":2}', 'not-met');
    expect({ code, lines }).toEqual({ code: 0, lines: undisturbed.filter((line) => !isPoint(line)) });
  });

  test('dies at the last point of each kind, with what was done before and nothing after', async () => {
    const places = killPointNames.map((name) =>
      undisturbed.findLastIndex((line) => isPoint(line) && pointOf(line).point === name),
    );
    const runs = places.map((place) => async () => {
      const line = undisturbed[place] ?? '';
      const { signal, lines } = await run(line.slice('point '.length), `killed-${place}`);
      const effects = undisturbed.slice(0, place).filter((earlier) => !isPoint(earlier));
      expect({ line, signal, lines }).toEqual({ line, signal: 'SIGKILL', lines: effects });
    });
    await Promise.all([inTurn(runs.filter((_, i) => i % 2 === 0)), inTurn(runs.filter((_, i) => i % 2 === 1))]);
  }, 120_000);
});

async function inTurn(runs: readonly (() => Promise<void>)[]): Promise<void> {
  for (const next of runs) await next();
}
