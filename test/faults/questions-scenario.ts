import type { Answers } from '@perdure/events';
import type { Session } from '@perdure/plugin-api';
import type { Scenario } from './scenario.js';

const call = (name: string, key: string) => ({ name, input: { key }, providerCallId: 'call_0' });

type Answer = { readonly decision: 'allow' } | { readonly answers: Answers };

/** Answers whatever a person is asked until the turn ends, each time first with something that does not fit. */
export async function answering(session: Session, finished: Promise<unknown>, answer: Answer): Promise<void> {
  // Nobody lets it go between the answers.
  const endListening = session.subscribe(() => undefined);
  let isOver = false;
  const ended = finished.then(() => (isOver = true));
  while (!isOver) {
    for (const { id, argumentDigest } of await session.interactions()) {
      const given = { id, by: 'ada', ...answer };
      await session.respond({ ...given, argumentDigest: 'sha256:other' }).catch(() => undefined);
      await session.respond({ ...given, argumentDigest });
    }
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5))]);
  }
  endListening();
}

/** A call that asks a person, between one that runs and one that waits for it; the first answer does not fit. */
export const questioning: Scenario = {
  name: 'questions',
  script: {
    rules: [
      {
        when: { userTextContains: 'ask me', toolResults: 0 },
        answer: {
          calls: [
            call('put', 'o'),
            { ...call('where', 'm'), providerCallId: 'call_1' },
            { ...call('put', 'n'), providerCallId: 'call_2' },
          ],
        },
      },
      { answer: { text: 'thank you' } },
    ],
  },
  async drive(session) {
    const turn = await session.prompt({ query: 'ask me', promptId: 'p-1' });
    await session.resume();
    await answering(session, turn.finished, { answers: { place: 'home' } });
    await (
      await session.set({ approvals: 'always-allow' })
    ).finished;
  },
};

/** A call that asks a person in the middle of its run; whoever runs it again finds the question, or its answer. */
export const asking: Scenario = {
  name: 'questions of a call that runs',
  isOwnPoint: ({ match, point }) =>
    match === 'QuestionAsked' || (match === 'ToolCallSettled' && point.endsWith('before')),
  script: {
    rules: [{ when: { toolResults: 0 }, answer: { calls: [call('inquire', 'q')] } }, { answer: { text: 'thank you' } }],
  },
  async drive(session) {
    const turn = await session.prompt({ query: 'inquire', promptId: 'p-1' });
    await session.resume();
    await answering(session, turn.finished, { answers: { place: 'home' } });
  },
};
