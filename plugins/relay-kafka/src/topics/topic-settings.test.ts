import { expect, test } from 'vitest';
import { topicOptions } from '../options.js';
import { wantedTopics, wrongSetting } from './topic-settings.js';

const [facts, state] = wantedTopics(topicOptions.parse({ retentionMs: 1_000, maxMessageBytes: 5_000 }));
if (facts === undefined || state === undefined) throw new Error('there are no topics');

test.each([
  ['as wanted', {}, undefined],
  ['with more room and longer retention', { 'max.message.bytes': '9000', 'retention.ms': '-1' }, undefined],
  ['with less room', { 'max.message.bytes': '4999' }, 'max.message.bytes'],
  ['that are kept shorter', { 'retention.ms': '999' }, 'retention.ms'],
  ['that are compacted, too', { 'cleanup.policy': 'compact,delete' }, 'cleanup.policy'],
])('facts %s', (_, other, setting) => {
  const settings = new Map(Object.entries({ ...facts.settings, ...other }));
  expect(wrongSetting(facts, 6, settings)?.setting).toBe(setting);
});

test('a state topic that is not compacted, and partitions that are others', () => {
  const settings = new Map(Object.entries(state.settings));
  expect(wrongSetting(state, 7, settings)).toEqual({ setting: 'partitions', actual: '7', expected: '6' });
  settings.set('cleanup.policy', 'delete');
  expect(wrongSetting(state, 6, settings)).toMatchObject({ setting: 'cleanup.policy', expected: 'compact' });
});
