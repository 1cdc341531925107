import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Certificate } from '../emulator.js';
import { selfSigned } from './self-signed.js';

/** The certificate that a folder has; one is made when there is none. Clients trust the file `certificate.pem`. */
export async function certificateIn(folder: string): Promise<Certificate> {
  await mkdir(folder, { recursive: true });
  const authorityFile = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  try {
    return { certificate: await readFile(authorityFile, 'utf8'), key: await readFile(keyFile, 'utf8'), authorityFile };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const { certificate, key } = selfSigned(new Date());
  await writeFile(keyFile, key, { mode: 0o600 });
  await writeFile(authorityFile, certificate);
  return { certificate, key, authorityFile };
}
