import { expect, test } from 'vitest';
import { z } from 'zod';
import { coreTypes, type CoreType, type FactHandlers } from './catalogue.js';
import { defineEvent } from './define-event.js';

const noted = { type: 'Noted', version: 1, lane: 'owner', schema: z.strictObject({}) } as const;

// The compiler checks these tests too: where it finds no error that is expected, the build fails.
test('a fact without a name on the wire does not compile, nor is it made [A18]', () => {
  // @ts-expect-error `wire` is missing
  expect(() => defineEvent(noted)).toThrow(TypeError);
  // @ts-expect-error a projection has a type
  expect(defineEvent({ ...noted, wire: { payload: () => ({}) } }).wire.types).toEqual([undefined]);
  const whole = defineEvent({ ...noted, wire: { type: 'noted', payload: () => ({}) } });
  expect(whole.wire.types).toEqual(['noted']);
});

test('a map that leaves a fact out does not compile [A18]', () => {
  const all = Object.fromEntries(coreTypes.map((type) => [type, () => type])) as unknown as FactHandlers<[], CoreType>;
  const { PromptAccepted, ...others } = all;
  // @ts-expect-error PromptAccepted is missing
  const lacking: FactHandlers<[], CoreType> = others;
  const missing = coreTypes.filter((type) => !Object.hasOwn(lacking, type));
  expect(missing).toEqual(['PromptAccepted']);
  const complete: FactHandlers<[], CoreType> = { ...others, PromptAccepted };
  expect(Object.keys(complete)).toHaveLength(coreTypes.length);
});
