import { createHash } from 'node:crypto';
import { invalidInput } from '@perdure/plugin-api/store-input';

/** PostgreSQL cuts longer names off without a word. Bytes. */
const LONGEST_NAME = 63;

/** What the stores of one schema are called inside of the database. */
export interface Names {
  /** Quoted, to be put before the name of a table. */
  readonly schema: string;
  readonly schemaName: string;
  /** Advisory lock under which positions are given: a number of 64 bits with a sign. */
  readonly appendLock: string;
  /** Advisory lock under which tables are made and changed. */
  readonly migrationLock: string;
  /** Where the commits of this schema are announced. */
  readonly channel: string;
}

export function namesOf(schemaName: string): Names {
  if (typeof schemaName !== 'string' || schemaName === '') throw invalidInput('schema', 'must be a text, not empty');
  if (schemaName.includes(String.fromCharCode(0))) throw invalidInput('schema', 'must not hold U+0000');
  if (Buffer.byteLength(schemaName) > LONGEST_NAME) {
    throw invalidInput('schema', `must not be longer than ${LONGEST_NAME} bytes`);
  }
  return {
    schema: `"${schemaName.replaceAll('"', '""')}"`,
    schemaName,
    appendLock: numberFrom('append', schemaName).toString(),
    migrationLock: numberFrom('migrate', schemaName).toString(),
    channel: `perdure_${digest('notify', schemaName).toString('hex').slice(0, 24)}`,
  };
}

/** A stream's key in the index: names may be longer than what an index takes. */
export function streamKey(name: string): Buffer {
  return createHash('sha256').update(name).digest();
}

function numberFrom(purpose: string, schemaName: string): bigint {
  return digest(purpose, schemaName).readBigInt64BE();
}

function digest(purpose: string, schemaName: string): Buffer {
  return createHash('sha256').update(`perdure ${purpose} ${schemaName}`).digest();
}
