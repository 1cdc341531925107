import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import * as der from './der.js';

export interface KeyAndCertificate {
  /** PEM texts. */
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  basicConstraints: '2.5.29.19',
  alternativeNames: '2.5.29.17',
} as const;

/** A key and a certificate for the loopback that signs itself: a client trusts it as its own authority. */
export function selfSigned(now: Date): KeyAndCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der.sequence(der.identifier(OID.ecdsaWithSha256));
  const name = der.sequence(der.set(der.sequence(der.identifier(OID.commonName), der.text('eventstoredb-emulator'))));
  const body = der.sequence(
    der.tagged(0, true, der.integer(Uint8Array.of(2))),
    // The first byte keeps the number positive, and in its shortest form.
    der.integer(Buffer.concat([Uint8Array.of(0x40), randomBytes(15)])),
    algorithm,
    name,
    der.sequence(der.time(new Date(now.getTime() - DAY_MS)), der.time(new Date(now.getTime() + 3650 * DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der.tagged(3, true, der.sequence(authorityOfItself(), loopbackNames())),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  return {
    certificate: pem('CERTIFICATE', der.sequence(body, algorithm, der.bits(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function authorityOfItself(): Buffer {
  const isAuthority = der.sequence(der.boolean(true));
  return der.sequence(der.identifier(OID.basicConstraints), der.boolean(true), der.octets(isAuthority));
}

function loopbackNames(): Buffer {
  const names = der.sequence(
    der.tagged(2, false, Buffer.from('localhost')),
    der.tagged(7, false, Uint8Array.of(127, 0, 0, 1)),
  );
  return der.sequence(der.identifier(OID.alternativeNames), der.octets(names));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/(.{64})(?=.)/g, '$1\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
