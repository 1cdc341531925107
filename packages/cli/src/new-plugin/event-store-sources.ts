import { EVENT_STORE_SOURCE } from './event-store-source.js';
import { indexSource } from './index-source.js';
import type { PortSources } from './port-sources.js';
import { pluginNameOf } from './new-plugin-name.js';

/** A plugin with a complete event store in memory, in which one's own storage takes the place of two maps. */
export function eventStoreSources(name: string): PortSources {
  const plugin = pluginNameOf(name);
  return {
    token: 'event-store',
    summary: 'An event store that keeps its streams in memory.',
    nextStep: NEXT_STEP,
    needsEvents: true,
    needsTesting: true,
    files: new Map([
      ['src/index.ts', indexSource(`export { OwnEventStore } from './event-store.js';`)],
      ['src/plugin.ts', pluginSource(plugin)],
      ['src/event-store.ts', EVENT_STORE_SOURCE],
      ['src/input.ts', INPUT_SOURCE],
      ['src/conformance.test.ts', conformance(plugin)],
    ]),
  };
}

const NEXT_STEP = `Put your own storage into \`src/event-store.ts\`. \`src/conformance.test.ts\` runs all that the
port promises; declare \`durable\` and \`shared\` there and in the store when they hold.`;

function pluginSource(plugin: string): string {
  return `import { createRequire } from 'node:module';
import { definePlugin, EVENT_STORE, PLUGIN_API } from '@perdure/plugin-api';
import { z } from 'zod';
import { OwnEventStore } from './event-store.js';

const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string };

export const plugin = definePlugin({
  name: '${plugin}',
  api: PLUGIN_API,
  version: manifest.version,
  config: z.strictObject({}),
  provides: [EVENT_STORE],
  setup({ provide }) {
    const store = new OwnEventStore();
    provide(EVENT_STORE, store);
    return { stop: () => store.close() };
  },
});
`;
}

function conformance(plugin: string): string {
  return `import { describeEventStore } from '@perdure/testing';
import { OwnEventStore } from './event-store.js';

describeEventStore({
  name: '${plugin}',
  capabilities: { shared: false, durable: false },
  create: async () => ({ store: new OwnEventStore() }),
});
`;
}

const INPUT_SOURCE = String.raw`import {
  PerdureError,
  type ExpectedRevision,
  type NewFact,
  type ReadOptions,
  type StoreSource,
  type StreamSource,
  type SubscribeOptions,
} from '@perdure/plugin-api';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const POSITION = /^\d{16}$/;
const HALF_PAIR = /\p{Surrogate}/u;

/** Throws PERDURE_INPUT_INVALID with the field, unless the append is one that the port allows. */
export function checkAppend(stream: string, facts: readonly NewFact[], expected: ExpectedRevision, most: number): void {
  checkName('stream', stream);
  if (expected !== 'none') checkWhole('expected', expected, 0);
  check('facts', Array.isArray(facts) && facts.length > 0 && facts.length <= most, 'must be a list of 1 to ' + most);
  for (const [index, { id, type, payload, metadata }] of facts.entries()) {
    const field = 'facts[' + index + '].';
    check(field + 'id', typeof id === 'string' && UUID.test(id), 'must be a UUID in lower case');
    checkName(field + 'type', type);
    checkText(field + 'payload', payload);
    checkText(field + 'metadata', metadata);
  }
}

export function checkRead(stream: string, { from, limit, direction }: ReadOptions): void {
  checkName('stream', stream);
  if (from !== undefined) checkWhole('from', from, 0);
  if (limit !== undefined) checkWhole('limit', limit, 1);
  check('direction', [undefined, 'forwards', 'backwards'].includes(direction), 'must be forwards or backwards');
}

export function checkSubscribe(source: StreamSource | StoreSource, options: SubscribeOptions): void {
  const { after } = source;
  if ('stream' in source) {
    checkName('stream', source.stream);
    if (after !== undefined) checkWhole('after', after, 0);
  } else if (after !== undefined) {
    check('after', typeof after === 'string' && POSITION.test(after), 'must be a position of this store');
  }
  for (const field of ['types', 'categories'] as const) {
    const names: unknown = options[field];
    if (names === undefined) continue;
    check(field, Array.isArray(names) && names.every((name) => typeof name === 'string'), 'must be a list of texts');
  }
}

export function checkTruncate(stream: string, before: number): void {
  checkName('stream', stream);
  checkWhole('before', before, 0);
}

function checkName(field: string, value: unknown): void {
  checkText(field, value);
  check(field, value !== '', 'must not be empty');
}

/** Text that comes back the same from UTF-8. */
function checkText(field: string, value: unknown): void {
  check(field, typeof value === 'string', 'must be a text');
  check(field, !HALF_PAIR.test(String(value)), 'must not hold half of a surrogate pair');
}

function checkWhole(field: string, value: unknown, least: number): void {
  check(field, Number.isSafeInteger(value) && Number(value) >= least, 'must be a whole number of at least ' + least);
}

function check(field: string, isValid: boolean, reason: string): void {
  if (!isValid) throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
`;
