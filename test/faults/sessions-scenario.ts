import type { Session } from '@perdure/plugin-api';
import type { Scenario } from './scenario.js';

/** Whether the session has a title that was given to it. */
async function untilTitled(session: Session): Promise<void> {
  while (!['model', 'host'].includes((await session.info()).titleBy ?? ''))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A title that a model gives beside the turns, one of the host, and a session that is put away and comes back. */
export const puttingAway: Scenario = {
  name: 'titles and archives',
  titles: true,
  script: {
    rules: [
      { when: { userTextContains: 'Give this conversation a title' }, answer: { text: 'A title' } },
      { answer: { text: 'well', deltas: 2 } },
    ],
  },
  async drive(session, { sessions }) {
    if ((await session.info()).archivedAt !== null) await sessions.restore(session.id);
    const first = await session.prompt({ query: 'begin', promptId: 'p-1' });
    await session.resume();
    await first.finished;
    // A process that died under the call left it to the turn behind this one.
    if (!first.replayed) await untilTitled(session);
    await (
      await session.prompt({ query: 'go on', promptId: 'p-2' })
    ).finished;
    await untilTitled(session);
    await (
      await session.set({ title: 'Ours' })
    ).finished;
    await sessions.archive(session.id);
    await sessions.restore(session.id);
    await (
      await session.prompt({ query: 'and last', promptId: 'p-3' })
    ).finished;
  },
};
