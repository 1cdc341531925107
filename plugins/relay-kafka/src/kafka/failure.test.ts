import { PerdureError } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { failureKind, relayFailure } from './failure.js';

const protocol = (type: string): Error => Object.assign(new Error(`it is ${type}`), { type });

test.each([
  ['INVALID_PRODUCER_EPOCH', 'fenced'],
  ['MESSAGE_TOO_LARGE', 'too-large'],
  ['RECORD_LIST_TOO_LARGE', 'too-large'],
  ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'denied'],
  ['SASL_AUTHENTICATION_FAILED', 'denied'],
  ['NOT_LEADER_FOR_PARTITION', 'unavailable'],
])('%s is %s, also as the cause of something and among several', (type, kind) => {
  expect(failureKind(protocol(type))).toBe(kind);
  expect(failureKind(new Error('tried too often', { cause: protocol(type) }))).toBe(kind);
  expect(failureKind(Object.assign(new Error('several'), { errors: [new Error('one'), protocol(type)] }))).toBe(kind);
});

test('becomes an error that names the reason; one that is of this project stays', () => {
  expect(relayFailure(protocol('TOPIC_AUTHORIZATION_FAILED'))).toMatchObject({
    code: 'PERDURE_RELAY_DENIED',
    data: { reason: 'TOPIC_AUTHORIZATION_FAILED: it is TOPIC_AUTHORIZATION_FAILED' },
  });
  expect(relayFailure('nobody is there')).toMatchObject({
    code: 'PERDURE_RELAY_UNAVAILABLE',
    data: { reason: 'nobody is there' },
  });
  const own = new PerdureError('PERDURE_STORE_CLOSED');
  expect(relayFailure(own)).toBe(own);
});
