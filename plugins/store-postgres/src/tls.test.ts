import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresServer, type PostgresServer } from '@perdure/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresStores } from './open-postgres-stores.js';

let server: PostgresServer | undefined;
let ca = '';

/** A certificate for 127.0.0.1 that signs itself, made by the OpenSSL that comes with PostgreSQL. */
function makeCertificate(): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-tls-'));
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', keyFile, '-out', certFile, '-subj', '/CN=perdure', '-addext', 'subjectAltName=IP:127.0.0.1'],
  ]);
  const made = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}

beforeAll(async () => {
  const tls = makeCertificate();
  ca = tls.cert;
  server = await startPostgresServer({ tls });
});
afterAll(() => server?.stop());

test('TLS is used when it is asked for, with an authority of the host, and the certificate is checked', async () => {
  const url = server?.url ?? '';
  const stores = await openPostgresStores({ url, ssl: { ca } });
  expect((await stores.events.read('session-_.a')).head).toBe('none');
  await stores.close();
  // Nobody that Node trusts has signed it.
  await expect(openPostgresStores({ url, ssl: true })).rejects.toMatchObject({ code: 'PERDURE_STORE_UNAVAILABLE' });
  await expect(openPostgresStores({ url: `${url}?sslmode=verify-full` })).rejects.toMatchObject({
    code: 'PERDURE_STORE_UNAVAILABLE',
  });
  const unchecked = await openPostgresStores({ url, ssl: { rejectUnauthorized: false } });
  await unchecked.close();
});
