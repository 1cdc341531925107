import { expect, test } from 'vitest';
import type { CallState } from './call-state.js';
import { wholeOf } from './call-tree.js';
import { emptySession } from './session-loader.js';

const call = (callId: string, parent?: string) =>
  ({ callId, ...(parent === undefined ? {} : { parent }) }) as unknown as CallState;

const within = (...calls: readonly CallState[]) => ({ ...emptySession.state, nestedCalls: calls });

test('the whole of a part is found above all that it is a part of', () => {
  const whole = call('whole');
  const state = { ...within(call('middle', 'whole'), call('part', 'middle')), hostCalls: [whole] };
  expect(wholeOf(state, call('part', 'middle'))).toBe(whole);
});

test('calls of a made-up stream that are parts of each other or of themselves have no whole', () => {
  expect(wholeOf(within(call('one', 'other'), call('other', 'one')), call('one', 'other'))).toBeUndefined();
  expect(wholeOf(within(call('self', 'self')), call('self', 'self'))).toBeUndefined();
});
