import { PerdureError } from '@perdure/plugin-api';
import { unavailable } from './append/append-batch.js';
import type { Connection } from './client/connection.js';
import { failureOf } from './client/failure.js';
import { cutIn, type Reader } from './read/reader.js';

const TRIES = 20;

/** Hides the facts before a revision. The cut never lies behind what is there, and never moves back. */
export async function truncate(
  connection: Connection,
  reader: Reader,
  stream: string,
  before: number,
  timeoutMs: number,
): Promise<void> {
  for (let tried = 1; tried <= TRIES; tried += 1) {
    const head = await reader.headOf(stream);
    const settings = await reader.settingsOf(stream);
    const cut = head === 'none' ? 0 : Math.min(before, head + 1);
    if (cut <= cutIn(settings)) return;
    try {
      const expected = settings?.revision ?? 'none';
      return await connection.writeSettings(stream, { ...settings?.values, $tb: cut }, { expected, timeoutMs });
    } catch (error) {
      const failure = failureOf(error);
      // Somebody else set something, or nobody knows whether this did: what is there now tells.
      if (failure.kind === 'conflict' || failure.kind === 'ambiguous' || failure.kind === 'not-now') continue;
      throw unavailable('reason' in failure ? failure.reason : failure.kind, error);
    }
  }
  throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: `"${stream}" could not be truncated` });
}
