import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LogFile } from './log-file.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const path = (): string => join(folder, 'events.log');

async function written(...texts: readonly string[]): Promise<readonly number[]> {
  const { log } = await LogFile.open(folder, false);
  const appended = texts.map((text) => log.append(Buffer.from(text)));
  await Promise.all(appended.map(({ durable }) => durable));
  await log.close();
  return appended.map(({ offset }) => offset);
}

async function texts(): Promise<readonly string[]> {
  const { log, entries } = await LogFile.open(folder, true);
  await log.close();
  return entries.map(({ bytes }) => bytes.toString());
}

describe('a log', () => {
  test('gives back what was appended, at the offsets that it said', async () => {
    const offsets = await written('one', 'two');
    const more = await written('three');
    const { log, entries } = await LogFile.open(folder, false);
    await log.close();
    expect(entries.map(({ bytes }) => bytes.toString())).toEqual(['one', 'two', 'three']);
    expect(entries.map(({ offset }) => offset)).toEqual([...offsets, ...more]);
  });

  test('cuts off a torn end wherever it is torn, and goes on behind what is whole', async () => {
    const [, second = 0] = await written('one', 'two');
    const whole = await readFile(path());
    for (let length = second; length < whole.length; length += 1) {
      await writeFile(path(), whole.subarray(0, length));
      expect(await texts()).toEqual(['one']);
    }
    await written('again');
    expect(await texts()).toEqual(['one', 'again']);
  });

  test('cuts off a last entry that was given room and not written', async () => {
    await written('one', 'two');
    const whole = await readFile(path());
    await writeFile(path(), whole.fill(0, whole.length - 3));
    expect(await texts()).toEqual(['one']);
  });

  test('is refused when it is damaged before its end', async () => {
    const [first = 0] = await written('one', 'two');
    const whole = await readFile(path());
    whole[first + 9] = 0;
    await writeFile(path(), whole);
    await expect(LogFile.open(folder, false)).rejects.toThrow(`is damaged at byte ${first}`);
    expect(await readFile(path())).toEqual(whole);
  });

  test('is refused when it is another file', async () => {
    await writeFile(path(), 'these are the notes of somebody');
    await expect(LogFile.open(folder, false)).rejects.toThrow('is not a log of this emulator');
  });
});

describe('a folder', () => {
  test('belongs to one process at a time', async () => {
    const { log } = await LogFile.open(folder, false);
    await expect(LogFile.open(folder, false)).rejects.toThrow(`is used by process ${process.pid}`);
    await log.close();
    expect(await texts()).toEqual([]);
  });

  test('is free when its owner is dead', async () => {
    // No process has a number as large as this.
    await writeFile(join(folder, 'owner.pid'), '4194305');
    expect(await texts()).toEqual([]);
  });
});
