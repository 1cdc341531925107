import type { Interaction, InteractionResponse } from '@perdure/plugin-api';
import { unsettledCalls } from '../session/asked-call.js';
import { checkResponse } from '../session/check-response.js';
import type { ChildState } from '../session/child-state.js';
import { pendingInteractions, respondTo } from '../session/interactions.js';
import type { LoadedSession } from '../session/loaded-session.js';
import type { SessionWork } from '../turn/session-work.js';

type ParentWork = Pick<SessionWork, 'key' | 'journal' | 'children'>;

/** What waits for an answer in a session and in all below it that are at work: its own, then child by child. */
export async function allInteractions(work: ParentWork): Promise<readonly Interaction[]> {
  const below = await eachBelow(work, async ({ work: child }) => {
    const asked = await allInteractions(child);
    return asked.map((interaction) => ({ ...interaction, childId: interaction.childId ?? child.key.id }));
  });
  return [...pendingInteractions(work.journal.state), ...below.flat()];
}

/** Answers an interaction of a session or of one below it, wherever that is run. Throws as `respondTo` does. */
export async function respondInTree(loaded: LoadedSession, given: InteractionResponse): Promise<void> {
  const response = checkResponse(given);
  await loaded.work.journal.refresh();
  if (isAsked(loaded, response) || !(await respondBelow(loaded.work, response))) await respondTo(loaded, response);
}

async function respondBelow(work: ParentWork, response: InteractionResponse): Promise<boolean> {
  const answered = await eachBelow(work, async (child) => {
    if (isAsked(child, response)) {
      await respondTo(child, response);
      return true;
    }
    return respondBelow(child.work, response);
  });
  return answered.includes(true);
}

/** Answers of a call that is over are told by the session that asked. */
function isAsked({ work }: LoadedSession, { id }: InteractionResponse): boolean {
  return unsettledCalls(work.journal.state).some(({ callId }) => callId === id);
}

/** Looks at each child that is at work; one that has no stream is passed by. */
async function eachBelow<Result>(
  { key, journal, children }: ParentWork,
  look: (child: LoadedSession) => Promise<Result>,
): Promise<readonly Result[]> {
  const open = journal.state.children.filter(({ ended }: ChildState) => ended === undefined);
  const results = await Promise.all(
    open.map((child) =>
      children.home(child, key, journal.state).use(async (loaded): Promise<readonly Result[]> => {
        await loaded.work.journal.refresh();
        return loaded.work.journal.head < 0 ? [] : [await look(loaded)];
      }),
    ),
  );
  return results.flat();
}
