import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { isAddress, storeFailure, storePlugins, withoutSecrets } from './store-server.js';

describe('the place of a store', () => {
  test.each([
    ['postgres://db/agents', true],
    ['esdb+discover://db:2113', true],
    ['mysql://db', true],
    ['perdure.db', false],
    ['/var/lib/perdure.db', false],
    ['C:\\perdure.db', false],
    ['c:/perdure.db', false],
  ])('%s: an address %s', (store, expected) => expect(isAddress(store)).toBe(expected));

  test.each([
    ['postgres://db/agents', 'postgres://db/agents'],
    ['postgres://ada@db/agents?sslmode=require', 'postgres://ada@db/agents?sslmode=require'],
    ['postgres://ada:s3cret@db/agents', 'postgres://ada:***@db/agents'],
    ['postgres://ada:s3c@r/e?t@db/agents', 'postgres://ada:***@db/agents'],
    ['postgres://db/agents?user=ada&password=s3cret', 'postgres://db/agents?user=ada&password=***'],
    ['esdb://ada:s3cret@a:1,b:2?tls=true', 'esdb://ada:***@a:1,b:2?tls=true'],
  ])('%s is shown without what is secret', (address, shown) => expect(withoutSecrets(address)).toBe(shown));

  test('of another kind is refused, and the known ones are named', async () => {
    const refused = storePlugins('mysql://ada:s3cret@db/agents', []);
    await expect(refused).rejects.toSatisfy(
      (error) =>
        isPerdureError(error, 'PERDURE_CONFIGURATION') &&
        error.data['field'] === '--store' &&
        error.message.includes('postgres://') &&
        !error.message.includes('s3cret'),
    );
  });

  test.each([
    ['postgres://ada:s3cret@db/agents', '@perdure/store-postgres'],
    ['esdb://ada:s3cret@db', '@perdure/store-eventstoredb'],
  ])('whose package is not installed names it', async (address, plugin) => {
    await expect(storePlugins(address, [tmpdir()])).rejects.toSatisfy(
      (error) =>
        isPerdureError(error, 'PERDURE_PLUGIN_NOT_FOUND') &&
        error.data['plugin'] === plugin &&
        !JSON.stringify([error.message, error.data, error.cause]).includes('s3cret'),
    );
  });

  test('that cannot be used fails with the error of the store, not of its plugin', () => {
    const failed = (plugin: string, cause: PerdureError) =>
      new PerdureError('PERDURE_PLUGIN_FAILED', { plugin, stage: 'setup', reason: cause.message }, { cause });
    const away = new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: 'refused' });
    expect(storeFailure(failed('store-postgres', away))).toBe(away);
    const invalid = new PerdureError('PERDURE_INPUT_INVALID', { field: 'url', reason: 'is no address' });
    expect(storeFailure(failed('store-postgres', invalid))).toMatchObject({
      code: 'PERDURE_CONFIGURATION',
      data: { field: '--store', reason: 'is no address' },
    });
    const other = failed('memory', away);
    expect(storeFailure(other)).toBe(other);
  });
});
