import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { isPerdureError } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { openEventStoreDbStores } from './open-eventstoredb-stores.js';

const SECRET = 'hunter2';

/** Addresses that are refused, and what the refusal names. */
const REFUSED: readonly (readonly [string, string])[] = [
  [`esdb://u:${SECRET}@h?bogus=1`, '"bogus"'],
  [`esdb://u:${SECRET}@h?tls=maybe`, '"tls"'],
  [`esdb://u:${SECRET}@h?keepAliveInterval=10s`, '"keepAliveInterval"'],
  [`esdb://u:${SECRET}@h?keepAliveTimeout=-2`, '"keepAliveTimeout"'],
  [`esdb://u:${SECRET}@h?nodePreference=${SECRET}`, '"nodePreference"'],
  [`esdb://u:${SECRET}@h?tlsVerifyCert=false`, 'tlsCAFile'],
  [`esdb://u:${SECRET}@h?tlsCAFile=/no/${SECRET}`, '"tlsCAFile"'],
  [`esdb://u:${SECRET}@h?userCertFile=/no/${SECRET}`, 'userKeyFile'],
  [`esdb://u:${SECRET}@h?tls`, 'name=value'],
  [`esdb://u:${SECRET}@h?&tls=true`, 'name=value'],
  [`esdb://u:${SECRET}@`, 'host 1'],
  [`esdb://u:${SECRET}@[bad:1`, 'host 1'],
  [`esdb://u:${SECRET}@h,`, 'host 2'],
  [`esdb://u:${SECRET}@h:0`, 'port'],
  [`esdb://u:${SECRET}`, 'port'],
  [`esdb://u:%zz${SECRET}@h`, '%25'],
  [`esdb://:${SECRET}@h`, 'user:password'],
  [`esdb://u:a?${SECRET}=1@h`, '%3F'],
  [`esdb://u:p@${SECRET}@h`, '%40'],
  [`esd://u:${SECRET}@h`, 'esdb://'],
];

test.each(REFUSED)('%s is refused, and nothing that the error prints holds the secret', (connectionString, named) => {
  let error: unknown;
  try {
    openEventStoreDbStores({ connectionString });
  } catch (thrown) {
    error = thrown;
  }
  if (!isPerdureError(error, 'PERDURE_CONFIGURATION')) return expect.fail('it must be PERDURE_CONFIGURATION');
  expect(error.data['field']).toBe('connectionString');
  expect(error.message).toContain(named);
  expect(error.cause).toBeUndefined();
  const text = `${String(error)} ${JSON.stringify(error)} ${inspect(error, { depth: 9, showHidden: true })}`;
  expect(text).not.toContain(SECRET);
});

test('a process prints no part of an address that it opens or refuses', { timeout: 60_000 }, async () => {
  const opened = ['', '/', '?', '?keepAliveInterval=9', '?tls=false&connectionName=me'];
  const addresses = [...opened.map((end) => `esdb://u:${SECRET}@h${end}`), ...REFUSED.map(([address]) => address)];
  const program = `
    const { openEventStoreDbStores } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    for (const connectionString of ${JSON.stringify(addresses)}) {
      try { await openEventStoreDbStores({ connectionString }).close(); console.log('opened'); }
      catch (error) { console.error(error); }
    }`;
  const options = ['--import', 'tsx', '--conditions=@perdure/source', '--input-type=module', '-e', program];
  // The client tells what it does when this is set, and must not have what it may not tell.
  const env = { ...process.env, DEBUG: 'esdb:*' };
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, options, { env, cwd });
  expect(stdout.match(/opened/g)).toHaveLength(opened.length);
  expect(stderr.match(/PERDURE_CONFIGURATION/g)?.length).toBeGreaterThanOrEqual(REFUSED.length);
  expect(stdout + stderr).not.toContain(SECRET);
});
