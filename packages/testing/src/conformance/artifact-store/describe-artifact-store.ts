import { createHash } from 'node:crypto';
import type { ArtifactStore } from '@perdure/plugin-api';
import { expect } from 'vitest';
import { expectError, expectInvalid } from '../expect-error.js';
import type { StoreUnderTest } from '../place.js';
import { artifactStoreRequirements, type ArtifactStoreRequirement } from '../requirements.js';
import { defineSuite, type Suite } from '../suite.js';

type ArtifactStoreSuite = Suite<ArtifactStore, ArtifactStoreRequirement>;

const TENANT = 'acme';
const MISSING = `sha256:${'0'.repeat(64)}`;

/** Registers the tests of everything that the port `ArtifactStore` promises. */
export function describeArtifactStore(under: StoreUnderTest<ArtifactStore>): void {
  defineSuite('ArtifactStore', artifactStoreRequirements, under, (suite: ArtifactStoreSuite) => {
    verifyPut(suite);
    verifyGet(suite);
    verifyDelete(suite);
    verifyPlace(suite);
  });
}

function verifyPut({ verify }: ArtifactStoreSuite): void {
  verify('artifact-store:put:digest', async ({ store }) => {
    const bytes = someBytes(1_000);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    expect(await store.put(TENANT, bytes)).toBe(digest);
    expect(await store.put(TENANT, Uint8Array.from(bytes))).toBe(digest);
    expect(await store.put(undefined, bytes)).toBe(digest);
    expect(await Promise.all([store.put('t', bytes), store.put('t', bytes)])).toEqual([digest, digest]);
    expect(await store.put(TENANT, someBytes(999))).not.toBe(digest);
  });

  verify('artifact-store:put:limit', async ({ store }) => {
    const limit = store.limits.maxBytes;
    expect(limit).toBeGreaterThanOrEqual(1024 * 1024);
    const bytes = someBytes(limit);
    const digest = await store.put(TENANT, bytes);
    expectBytes(await store.get(TENANT, digest), bytes);
    const error = await expectError('PERDURE_STORE_TOO_LARGE', () => store.put(TENANT, new Uint8Array(limit + 1)));
    expect(error.data).toMatchObject({ bytes: limit + 1, limit });
  });

  verify('artifact-store:put:copy', async ({ store }) => {
    const bytes = someBytes(50);
    const digest = await store.put(TENANT, bytes);
    bytes.fill(0);
    const loaded = await store.get(TENANT, digest);
    expectBytes(loaded, someBytes(50));
    loaded?.fill(0);
    expectBytes(await store.get(TENANT, digest), someBytes(50));
  });
}

function verifyGet({ verify }: ArtifactStoreSuite): void {
  verify('artifact-store:get:bytes', async ({ store }) => {
    for (const size of [0, 1, 255, 4_096, 65_535, 65_536, 65_537, 300_000]) {
      const digest = await store.put(TENANT, someBytes(size));
      const loaded = await store.get(TENANT, digest);
      expectBytes(loaded, someBytes(size));
    }
    const part = new Uint8Array(someBytes(100).buffer, 10, 20);
    expectBytes(await store.get(TENANT, await store.put(TENANT, part)), Uint8Array.from(part));
  });

  verify('artifact-store:get:range', async ({ store }) => {
    const bytes = someBytes(200_000);
    const digest = await store.put(TENANT, bytes);
    const ranges = [
      [0, 200_000],
      [0, 1],
      [199_999, 200_000],
      [65_530, 65_545],
      [65_536, 131_072],
      [10, 150_000],
      [10, 10],
      [200_000, 200_000],
      [199_990, 300_000],
      [250_000, 300_000],
    ] as const;
    for (const [from, to] of ranges) {
      expectBytes(await store.get(TENANT, digest, { from, to }), bytes.slice(from, to));
    }
    expectBytes(await store.get(TENANT, digest, {}), bytes);
    expectBytes(await store.get(TENANT, digest, { from: 70_000 }), bytes.slice(70_000));
    expectBytes(await store.get(TENANT, digest, { to: 70_000 }), bytes.slice(0, 70_000));
  });

  verify('artifact-store:get:input', async ({ store }) => {
    const digest = await store.put(TENANT, someBytes(10));
    for (const from of [-1, 0.5, '1']) {
      await expectInvalid('range.from', () => store.get(TENANT, digest, { from: from as number }));
    }
    await expectInvalid('range.to', () => store.get(TENANT, digest, { to: -1 }));
    await expectInvalid('range.to', () => store.get(TENANT, digest, { from: 5, to: 4 }));
  });

  verify('artifact-store:get:missing', async ({ store }) => {
    await store.put(TENANT, someBytes(10));
    for (const digest of [MISSING, 'sha256:', 'nonsense', '']) {
      expect(await store.get(TENANT, digest)).toBeUndefined();
      expect(await store.get(TENANT, digest, { from: 1 })).toBeUndefined();
    }
  });

  verify('artifact-store:get:tenants', async ({ store }) => {
    const tenants = [undefined, '', '_', 'undefined', 'null', 'a', 'A', 'a/b'];
    const digests = new Map<string | undefined, string>();
    for (const [index, tenant] of tenants.entries())
      digests.set(tenant, await store.put(tenant, someBytes(20 + index)));
    for (const [owner, digest] of digests) {
      for (const tenant of tenants) expect((await store.get(tenant, digest)) !== undefined).toBe(tenant === owner);
    }
  });
}

function verifyDelete({ verify }: ArtifactStoreSuite): void {
  verify('artifact-store:delete:bytes', async ({ store }) => {
    const bytes = someBytes(100_000);
    const digest = await store.put(TENANT, bytes);
    await store.put('other', bytes);
    const beside = await store.put(TENANT, someBytes(10));
    await store.delete(TENANT, digest);
    expect(await store.get(TENANT, digest)).toBeUndefined();
    expectBytes(await store.get('other', digest), bytes);
    expectBytes(await store.get(TENANT, beside), someBytes(10));
    await store.put(TENANT, bytes);
    expectBytes(await store.get(TENANT, digest), bytes);
  });

  verify('artifact-store:delete:missing', async ({ store }) => {
    await store.delete(TENANT, MISSING);
    const digest = await store.put(TENANT, someBytes(10));
    await store.delete('other', digest);
    expectBytes(await store.get(TENANT, digest), someBytes(10));
  });
}

function verifyPlace({ verify }: ArtifactStoreSuite): void {
  verify('artifact-store:close:calls', async ({ store }) => {
    const digest = await store.put(TENANT, someBytes(10));
    await store.close();
    await store.close();
    await expectError('PERDURE_STORE_CLOSED', () => store.put(TENANT, someBytes(10)));
    await expectError('PERDURE_STORE_CLOSED', () => store.get(TENANT, digest));
    await expectError('PERDURE_STORE_CLOSED', () => store.delete(TENANT, digest));
  });

  verify('artifact-store:shared:put', async ({ store, openSecond }) => {
    const second = await openSecond();
    const digest = await store.put(TENANT, someBytes(70_000));
    expectBytes(await second.get(TENANT, digest), someBytes(70_000));
    await second.delete(TENANT, digest);
    expect(await store.get(TENANT, digest)).toBeUndefined();
  });

  verify('artifact-store:durable:reopen', async ({ store, reopen }) => {
    const digest = await store.put(undefined, someBytes(70_000));
    await store.close();
    expectBytes(await (await reopen()).get(undefined, digest), someBytes(70_000));
  });
}

/** Compares natively: the equality of vitest takes seconds for large arrays. */
function expectBytes(actual: Uint8Array | undefined, expected: Uint8Array): void {
  expect(actual).toBeInstanceOf(Uint8Array);
  expect(actual?.byteLength).toBe(expected.byteLength);
  expect(Buffer.compare(actual ?? new Uint8Array(), expected)).toBe(0);
}

/** Bytes without a short period, different for each size. */
function someBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = size + 1;
  for (let index = 0; index < size; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
