import type { Change, Failure, PayloadOf } from '@perdure/events';
import { isPerdureError, PerdureError, type ChangeHandle } from '@perdure/plugin-api';
import { requestChange } from './accept-input.js';
import type { LoadedSession } from './loaded-session.js';
import type { SessionHome } from './session-home.js';

type Outcome = Awaited<ChangeHandle['finished']>;

/**
 * Asks for changes and follows them to their end, whoever owns the session. `finished` resolves in any case: at the
 * latest when this process can tell no more of the session.
 */
export async function changeHandle(home: SessionHome, ...changes: readonly Change[]): Promise<ChangeHandle> {
  const held = home.hold();
  try {
    const handle = await requested(await held.loaded, changes);
    // The session stays loaded until the end of the change is told.
    void handle.finished.finally(held.release);
    return handle;
  } catch (error) {
    held.release();
    throw error;
  }
}

async function requested(loaded: LoadedSession, changes: readonly Change[]): Promise<ChangeHandle> {
  const { journal, env, key } = loaded.work;
  const applied = new Map<string, Failure | undefined>();
  let tell: () => void = () => undefined;
  const end = journal.onCommit((facts) => {
    for (const { type, payload } of facts) {
      if (type !== 'ChangeApplied') continue;
      const { changeId, failure } = payload as PayloadOf<'ChangeApplied'>;
      applied.set(changeId, failure);
    }
    tell();
  });
  try {
    const ids = await loaded.accept((batch) =>
      changes.map((change) => {
        const changeId = env.idGenerator.next(`${key.id}-${batch.state.ownership.epoch}-change`);
        requestChange(batch, key.id, changeId, change);
        return changeId;
      }),
    );
    const finished = followed(loaded, (resolve) => {
      tell = () => {
        const waiting = journal.state.changes.map(({ changeId }) => changeId);
        if (ids.some((id) => waiting.includes(id))) return;
        // What is neither waiting nor applied ended with the session's stream.
        const isLost = !ids.every((id) => applied.has(id));
        const lost = isLost ? new PerdureError('PERDURE_CHANGE_DROPPED', { session: key.id }) : undefined;
        resolve(outcomeOf(lost ?? ids.map((id) => applied.get(id)).find((failure) => failure !== undefined)));
      };
      tell();
    }).finally(end);
    loaded.follow();
    // What hinders this node hinders no other; the change is stored.
    await loaded.runIfSupplied();
    return { id: ids[0] ?? '', finished };
  } catch (error) {
    end();
    throw error;
  }
}

/** A promise that somebody looks after: its owner may die, and the session may be let go. */
function followed(loaded: LoadedSession, begin: (resolve: (outcome: Outcome) => void) => void): Promise<Outcome> {
  const watch = setInterval(() => loaded.lookAfter(), loaded.ttlMs / 2);
  let onOver: () => void = () => undefined;
  const outcome = new Promise<Outcome>((resolve) => {
    onOver = () => {
      const { reason } = loaded.over as { readonly reason: unknown };
      const closed = new PerdureError('PERDURE_SESSION_CLOSED', { session: loaded.work.key.id });
      resolve(outcomeOf(isPerdureError(reason) ? reason : closed));
    };
    if (loaded.over.aborted) onOver();
    loaded.over.addEventListener('abort', onOver, { once: true });
    begin(resolve);
  });
  return outcome.finally(() => {
    clearInterval(watch);
    loaded.over.removeEventListener('abort', onOver);
  });
}

function outcomeOf(failure: { readonly code: string; readonly message: string } | undefined): Outcome {
  if (failure === undefined) return { success: true };
  return { success: false, error: { code: failure.code, message: failure.message } };
}
