import { existsSync } from 'node:fs';
import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { openSqliteStores } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { terminalLine } from '../terminal/terminal-asker.js';

/**
 * `perdure doctor --accept-loss`: goes on with a store that lost its end. Says what is gone before it is given up,
 * and asks for a yes.
 */
export async function acceptLoss({ screen, json }: CliContext, file: string, isSure: boolean): Promise<number> {
  const loss = await findLoss(file);
  if (loss === undefined) {
    if (json) await screen.out.line(jsonText({ accepted: false, reason: 'nothing is missing' }));
    else await screen.out.line(`Nothing is missing in ${file}.`);
    return exitCodes.completed;
  }
  const { stream, lastRevision } = loss.data;
  if (!json) {
    await screen.note(`${loss.message} ${screen.style.dim(`(${loss.code})`)}`);
    await screen.note(`In ${file} the stream ${String(stream)} ends at revision ${String(lastRevision)}.`);
    await screen.note('Facts that were stored behind it are gone, and other streams may have lost their ends with it.');
    await screen.note(
      'After this they are given up for good: sessions go on where they end now. Copy the folder first.',
    );
  }
  if (!isSure && !(screen.isInteractive && !json && (await isConfirmed(screen)))) {
    const reason = 'nothing was changed; it needs a yes, or --yes where there is nobody to ask';
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--accept-loss', reason });
  }
  const stores = await openSqliteStores({ path: file, acceptLoss: true });
  await stores.close();
  if (json) await screen.out.line(jsonText({ accepted: true, stream, lastRevision }));
  else await screen.out.line(`The store goes on with what is left. Check sessions with: perdure sessions verify ID`);
  return exitCodes.completed;
}

async function findLoss(file: string): Promise<PerdureError | undefined> {
  if (!existsSync(file)) return undefined;
  try {
    const stores = await openSqliteStores({ path: file });
    await stores.close();
    return undefined;
  } catch (error) {
    if (isPerdureError(error, 'PERDURE_STORE_TRUNCATED')) return error;
    throw error;
  }
}

async function isConfirmed(screen: CliContext['screen']): Promise<boolean> {
  const ask = terminalLine(screen.streams, () => process.exit(exitCodes.interrupted));
  const answer = await ask('Give them up? (yes / no) ', new AbortController().signal);
  return answer.trim().toLowerCase() === 'yes';
}
