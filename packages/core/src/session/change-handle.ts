import type { Change, PayloadOf } from '@perdure/events';
import { errorMessage, type ChangeHandle } from '@perdure/plugin-api';
import { requestChange } from './accept-input.js';
import type { LoadedSession } from './loaded-session.js';

/** Asks for a change and follows it to its end. `finished` resolves in any case. */
export async function changeHandle(loaded: LoadedSession, change: Change): Promise<ChangeHandle> {
  const { journal, env, key } = loaded.work;
  const id = await loaded.accept((batch) => {
    const changeId = env.idGenerator.next(`${key.id}-${batch.state.ownership.epoch}-change`);
    requestChange(batch, key.id, changeId, change);
    return changeId;
  });
  const finished = new Promise<Awaited<ChangeHandle['finished']>>((resolve) => {
    const finish = (result: Awaited<ChangeHandle['finished']>): void => {
      end();
      loaded.signal.removeEventListener('abort', onClose);
      resolve(result);
    };
    const onClose = (): void => {
      const code = 'PERDURE_SESSION_CLOSED';
      finish({ success: false, error: { code, message: errorMessage(code, { session: key.id }) } });
    };
    const end = journal.onCommit((facts) => {
      for (const fact of facts) {
        if (fact.type !== 'ChangeApplied') continue;
        const applied = fact.payload as PayloadOf<'ChangeApplied'>;
        if (applied.changeId !== id) continue;
        const { failure } = applied;
        finish(
          failure === undefined
            ? { success: true }
            : { success: false, error: { code: failure.code, message: failure.message } },
        );
      }
    });
    loaded.signal.addEventListener('abort', onClose, { once: true });
  });
  await loaded.run({ insist: false });
  return { id, finished };
}
