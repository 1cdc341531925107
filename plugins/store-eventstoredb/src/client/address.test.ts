import { describe, expect, test } from 'vitest';
import { addressOf } from './address.js';

describe('a connection string', () => {
  test.each([
    ['esdb://host:2113', undefined],
    ['esdb://host:2113?tls=true', undefined],
    ['esdb://host?tls=false', { username: 'nobody', password: 'nobody' }],
    ['esdb+discover://a%40b:c%3Ad@one:1,two:2?tls=true', { username: 'a@b', password: 'c:d' }],
    ['esdb://admin:changeit@host:2113?tls=false', { username: 'admin', password: 'changeit' }],
    ['esdb://admin:a/b:c@host', { username: 'admin', password: 'a/b:c' }],
  ])('%s leads to the credentials %j', (text, credentials) => {
    expect(addressOf(text).callCredentials).toEqual(credentials);
  });

  test('names hosts and options as the client has them', () => {
    const text =
      ' esdb+discover://one,two:7/?TLS=false&keep-alive-interval=-1&node_preference=ReadOnlyReplica&tlsCAFile=a%20b/ ';
    expect(addressOf(text)).toMatchObject({
      hosts: [
        { address: 'one', port: 2113 },
        { address: 'two', port: 7 },
      ],
      isDiscovered: true,
      credentials: undefined,
      options: { tls: false, keepAliveInterval: -1, nodePreference: 'read_only_replica', tlsCAFile: 'a b' },
    });
    expect(addressOf('esdb://host/?tlsVerifyCert=true')).toMatchObject({ isDiscovered: false, options: {} });
  });
});
