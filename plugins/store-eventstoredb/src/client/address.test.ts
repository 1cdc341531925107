import { describe, expect, test } from 'vitest';
import { addressOf } from './address.js';

describe('a connection string', () => {
  test.each([
    ['esdb://host:2113', undefined],
    ['esdb://host:2113?tls=true', undefined],
    ['esdb://host?tls=false', { username: 'nobody', password: 'nobody' }],
    ['esdb+discover://a%40b:c%3Ad@one:1,two:2?tls=true', { username: 'a@b', password: 'c:d' }],
    ['esdb://admin:changeit@host:2113?tls=false', { username: 'admin', password: 'changeit' }],
  ])('%s leads to the credentials %j', (text, credentials) => {
    expect(addressOf(text).credentials).toEqual(credentials);
  });

  test.each([
    ['esdb://host', 'esdb://host?keepAliveInterval=10001'],
    ['esdb://host?tls=false', 'esdb://host?tls=false&keepAliveInterval=10001'],
    ['esdb://host?keepAliveInterval=20000', 'esdb://host?keepAliveInterval=20000'],
  ])('%s is watched by %s', (text, watchString) => {
    expect(addressOf(text).watchString).toBe(watchString);
  });
});
