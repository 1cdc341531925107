import type { Attachment, Session } from '@perdure/plugin-api';
import { PNG } from '../fixtures/image.js';

/** Files for a prompt of a scenario. */
export const files: readonly Attachment[] = [{ data: PNG, filename: 'mine.png' }, { data: Buffer.from('a text') }];

/** Every file that a message names is there, with all its bytes, however often its writer was killed. */
export async function checkFiles(session: Session, least: number): Promise<void> {
  let found = 0;
  for (const { parts } of (await session.messages({ limit: 500 })).items) {
    for (const part of parts) {
      const named = part.type === 'file' ? [part] : part.type === 'tool-result' ? (part.files ?? []) : [];
      for (const { artifact } of named) {
        const bytes = await session.artifact(artifact?.digest ?? '');
        if (bytes?.byteLength !== artifact?.bytes) throw new Error('a fact names bytes that are not there');
        found += 1;
      }
    }
  }
  if (found < least) throw new Error(`there are ${found} files in the place of ${least}`);
}
