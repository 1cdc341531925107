import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newFacts, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { parseWitness, TailWitness, witnessText } from './tail-witness.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const WITNESSED = { position: 1234, stream: 'session-_.a "b"\n😀', revision: 56 };

test('a witness is one line that proves itself', () => {
  const text = witnessText(WITNESSED);
  expect(text).toMatch(/^perdure-tail 1 1234 56 "session-_.a \\"b\\"\\n😀" [0-9a-f]{8}\n$/u);
  expect(parseWitness(text)).toEqual(WITNESSED);
  expect(parseWitness(`${text}rest of a longer line`)).toEqual(WITNESSED);
  for (let at = 0; at < text.length; at++) {
    expect(parseWitness(text.slice(0, at))).toBeUndefined();
    const changed = text.slice(0, at) + (text[at] === '7' ? '8' : '7') + text.slice(at + 1);
    expect(parseWitness(changed)).toBeUndefined();
  }
});

test('the last note is written, at once or within a moment, and over a longer one', async () => {
  const { path, remove } = temporaryFolder();
  const witness = new TailWitness(path);
  expect(witness.read()).toBeUndefined();
  const short = { ...WITNESSED, stream: 'a' };
  witness.note(WITNESSED);
  expect(witness.read()).toEqual(WITNESSED);
  for (let position = 0; position < 100; position++) witness.note({ ...short, position });
  while (witness.read()?.position !== 99) await setTimeout(1);
  witness.note({ ...short, position: 100 });
  witness.close();
  expect(parseWitness(readFileSync(path, 'utf8'))).toEqual({ ...short, position: 100 });
  remove();
});

for (const driver of await presentDrivers()) {
  test(`a witness that is absent, torn or behind is ignored, one ahead is believed (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const first = await openSqliteStores({ path, driver });
    await store(first.events, 'session-_.a', newFacts(3), 'none');
    await first.close();
    const right = readFileSync(`${path}-tail`, 'utf8');
    expect(parseWitness(right)).toEqual({ position: 3, stream: 'session-_.a', revision: 2 });
    for (const text of [
      '',
      'nonsense',
      right.slice(0, 20),
      witnessText({ position: 2, stream: 'session-_.a', revision: 1 }),
    ]) {
      writeFileSync(`${path}-tail`, text);
      await (await openSqliteStores({ path, driver })).close();
    }
    const ahead = witnessText({ position: 4, stream: 'session-_.a', revision: 3 });
    const refusal = { code: 'PERDURE_STORE_TRUNCATED', data: { stream: 'session-_.a', lastRevision: 2 } };
    writeFileSync(`${path}-tail`, ahead);
    await expect(openSqliteStores({ path, driver })).rejects.toMatchObject(refusal);

    // Also while the store is open, at the next read.
    writeFileSync(`${path}-tail`, right);
    const stores = await openSqliteStores({ path, driver });
    writeFileSync(`${path}-tail`, ahead);
    await expect(stores.events.read('session-_.a')).rejects.toMatchObject(refusal);
    await stores.close();
    remove();
  });
}
