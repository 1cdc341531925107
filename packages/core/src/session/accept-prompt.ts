import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { takeFiles } from '../files/take-files.js';
import { digestOf } from '../host/sha256.js';
import { acceptPrompt, type AcceptedPrompt } from './accept-input.js';
import { canonicalJson } from './canonical-json.js';
import type { LoadedSession } from './loaded-session.js';
import { promptAfterHooks } from './prompt-hooks.js';
import type { CheckedPrompt, ReadPrompt } from './prompt-input.js';
import type { SessionHome } from './session-home.js';
import { currentTurn } from './session-state.js';

/** Accepts a prompt and sees to it that it is answered. What cannot be accepted leaves no fact. */
export async function acceptAndRun(
  loaded: LoadedSession,
  given: CheckedPrompt,
  home: SessionHome,
): Promise<AcceptedPrompt> {
  const { redaction, key } = loaded.work;
  const known = knownPrompt(loaded, given);
  if (known !== undefined) {
    await loaded.run({ insist: false });
    return known;
  }
  const { prompt, bytes } = await withFiles(loaded, given);
  const runId = prompt.runId === undefined ? undefined : redaction.redactText(prompt.runId);
  const run =
    runId === undefined ? undefined : { runId, digest: digestOf(canonicalJson(redaction.redactFact(prompt.parts))) };
  const claimed = run === undefined ? key.id : home.runIds.claim(key, run.runId);
  if (run !== undefined && claimed !== key.id) {
    throw new PerdureError('PERDURE_RUN_IDENTITY_CONFLICT', { run: run.runId, session: claimed });
  }
  let promptId: string | undefined;
  try {
    const checked = await promptAfterHooks(prompt, loaded);
    for (const file of bytes) await loaded.work.files.keep(file);
    const accepted = await loaded.accept((batch, ids) => {
      const id = checked.promptId === undefined ? ids.promptId : redaction.redactText(checked.promptId);
      promptId = id;
      return acceptPrompt(batch, key.id, { ...checked, run }, { promptId: id, turnId: ids.turnId }, loaded.index);
    });
    await loaded.run({ insist: false });
    return accepted;
  } catch (error) {
    if (isPerdureError(error, 'PERDURE_STORE_AMBIGUOUS')) {
      // Whoever gave no id needs the one to bring it again with. A run that may be here is begun nowhere else.
      throw new PerdureError(error.code, { ...error.data, ...(promptId && { promptId }) }, { cause: error.cause });
    }
    // What was not accepted may be asked for in another session.
    if (run !== undefined && loaded.index.turnOfRunId(run.runId) === undefined) home.runIds.release(key, run.runId);
    throw error;
  }
}

/**
 * The turn of a prompt with files that is there already: its files are not read a second time, and may be gone. Where a
 * run is named they are, because another input under that name is refused.
 */
function knownPrompt({ index, work }: LoadedSession, { parts, promptId, runId }: CheckedPrompt) {
  if (promptId === undefined || runId !== undefined || !hasFiles(parts)) return undefined;
  const id = work.redaction.redactText(promptId);
  const turnId = index.turnOf(id);
  return turnId === undefined ? undefined : { promptId: id, turnId, isKnown: true };
}

/** Reads the files of a prompt. One that would be refused in any case is refused before. */
async function withFiles(
  { work }: LoadedSession,
  given: CheckedPrompt,
): Promise<{ readonly prompt: ReadPrompt; readonly bytes: readonly Uint8Array[] }> {
  const { journal, files, key } = work;
  const running = currentTurn(journal.state);
  if (hasFiles(given.parts) && given.whenBusy === 'reject' && running !== undefined) {
    throw new PerdureError('PERDURE_SESSION_BUSY', { session: key.id, turn: running.turnId });
  }
  const { parts, bytes } = await takeFiles(given.parts, files);
  return { prompt: { ...given, parts }, bytes };
}

function hasFiles(parts: CheckedPrompt['parts']): boolean {
  return parts.some(({ type }) => type !== 'text');
}
