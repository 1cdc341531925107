import { describe, expect, test } from 'vitest';
import type { DeclaredCapabilities, StorePlace, StoreUnderTest } from './place.js';

/** Id → promise in one sentence. The middle word of an id is a verb of the port, or the capability that it needs. */
export type Requirements = Readonly<Record<string, string>>;

interface Closable {
  close(): Promise<void>;
}

/** What the body of a test is given. Every store that it opens is closed behind it, and the place is removed. */
export interface Opened<Store> {
  readonly store: Store;
  reopen(): Promise<Store>;
  openSecond(): Promise<Store>;
}

export interface Suite<Store, Id extends string> {
  readonly capabilities: DeclaredCapabilities;
  /**
   * Registers the test of a requirement. A requirement that the store's capabilities rule out is reported as skipped.
   */
  verify(id: Id, body: (opened: Opened<Store>) => Promise<void>): void;
}

/** Milliseconds. Thousands of durable appends on a slow disk fit in. */
const TEST_TIMEOUT = 60_000;

/** Registers a suite. Its last test fails when a requirement was not cited by `define`. */
export function defineSuite<Store extends Closable, Id extends string>(
  port: string,
  requirements: Readonly<Record<Id, string>>,
  under: StoreUnderTest<Store>,
  define: (suite: Suite<Store, Id>) => void,
): void {
  describe(`${port}: ${under.name}`, () => {
    const cited = new Set<Id>();
    define({
      capabilities: under.capabilities,
      verify(id, body) {
        cited.add(id);
        const missing = missingCapability(id, under.capabilities);
        const title = `${id}: ${requirements[id]}`;
        if (missing !== undefined) test.skip(`${title} (skipped: the store does not declare "${missing}")`);
        else test(title, { timeout: TEST_TIMEOUT }, async () => withPlace(under, body));
      },
    });
    test(`${port}: every requirement has a test`, () => {
      const uncited = (Object.keys(requirements) as Id[]).filter((id) => !cited.has(id));
      expect(uncited).toEqual([]);
    });
  });
}

function missingCapability(id: string, capabilities: DeclaredCapabilities): string | undefined {
  const word = id.split(':')[1];
  if (word !== 'shared' && word !== 'durable') return undefined;
  return capabilities[word] ? undefined : word;
}

async function withPlace<Store extends Closable>(
  under: StoreUnderTest<Store>,
  body: (opened: Opened<Store>) => Promise<void>,
): Promise<void> {
  const place = await under.create();
  const open = [place.store];
  const track = async (opener: (() => Promise<Store>) | undefined, name: string): Promise<Store> => {
    if (opener === undefined) throw new Error(`A store that declares this capability must bring ${name}().`);
    const store = await opener();
    open.push(store);
    return store;
  };
  try {
    await body({
      store: place.store,
      reopen: () => track(bound(place, 'reopen'), 'reopen'),
      openSecond: () => track(bound(place, 'openSecond'), 'openSecond'),
    });
  } finally {
    for (const store of open) await store.close();
    await place.dispose?.();
  }
}

function bound<Store>(place: StorePlace<Store>, name: 'reopen' | 'openSecond'): (() => Promise<Store>) | undefined {
  const opener = place[name];
  return opener === undefined ? undefined : () => opener.call(place);
}
