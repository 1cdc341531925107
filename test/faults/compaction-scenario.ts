import { contextTooLong } from '@perdure/testing';
import type { Scenario } from './scenario.js';

/**
 * A turn whose request is too long for the provider, although its window is said to be larger, and one that comes near
 * to what is said.
 */
export const compaction: Scenario = {
  name: 'conversations that get too long',
  context: { window: 2_000 },
  // Around each commit that tells of a refusal or a compaction, and behind the first summary.
  isOwnPoint: ({ point, match = '', category, occurrence }) =>
    (category === 'session' && /ModelCallFailed|HistoryCompacted/.test(match) && occurrence === 1) ||
    (point === 'model:after' && occurrence === 4),
  script: {
    rules: [
      { when: { userTextContains: 'Summarise the conversation' }, answer: { text: 'the summary' } },
      { when: { userTextContains: 'refuse', messageCharactersOver: 1_500 }, answer: { error: contextTooLong } },
      { answer: { text: 'w'.repeat(200) } },
    ],
  },
  async drive(session) {
    const say = async (query: string, promptId: string): Promise<void> => {
      const turn = await session.prompt({ query, promptId });
      await session.resume();
      await turn.finished;
    };
    await say(`first ${'f'.repeat(600)}`, 'p-1');
    await say(`second ${'s'.repeat(600)}`, 'p-2');
    await say('refuse', 'p-3');
    for (const place of [4, 5]) await say(`${place} ${'l'.repeat(8_000)}`, `p-${place}`);
  },
};
