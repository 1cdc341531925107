import { describe, expect, test } from 'vitest';
import type { Message } from '@perdure/plugin-api';
import { digestConversation } from './conversation-digest.js';
import { renderTranscript } from './transcript.js';

const base = { id: 'm', sequence: 1, revision: 1, turnId: 't', createdAt: 0 };
const artifact = { digest: 'sha256:12', bytes: 9_000, mediaType: 'text/plain' };
const user = (text: string): Message => ({ ...base, role: 'user', mode: 'turn', parts: [{ type: 'text', text }] });
const answer = (text: string): Message => ({
  ...base,
  role: 'assistant',
  status: 'complete',
  parts: [
    { type: 'text', text },
    { type: 'tool-call', callId: 'c', name: 'grep', input: { pattern: 'x' } },
  ],
});
const result = (output: string): Message => ({
  ...base,
  role: 'tool',
  parts: [{ type: 'tool-result', callId: 'c', name: 'grep', status: 'completed', output, artifact }],
});
const image: Message = {
  ...base,
  role: 'user',
  mode: 'turn',
  parts: [{ type: 'file', mediaType: 'image/png', filename: 'a.png', data: 'AAAABBBB' }],
};
const long = Array.from({ length: 400 }, (_, index) => [
  user(`ask ${index}`),
  answer(`say ${index}`),
  result('y'.repeat(300)),
]).flat();

describe('a transcript for a model that sums up', () => {
  test('tells who said and called what, and names files and artifacts without their bytes', () => {
    const text = renderTranscript([user('find x'), image, answer('looking'), result('found')], 'earlier', 4_000);
    for (const part of [
      'earlier',
      'find x',
      'a.png',
      'image/png',
      'called grep {"pattern":"x"}',
      'found',
      'sha256:12',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('AAAABBBB');
  });

  test.each([1_000, 5_000, 50_000])('is bounded by %d characters and keeps the beginning and the end', (most) => {
    const text = renderTranscript(long, 'what was before', most);
    expect(text.length).toBeLessThanOrEqual(most);
    for (const part of ['what was before', 'ask 0', 'messages left out']) expect(text).toContain(part);
    expect(text).toContain(renderTranscript(long.slice(-1), undefined, 1_000).slice(0, 30));
  });
});

describe('a digest without a model', () => {
  test.each([300, 2_000, 20_000])('is bounded by %d characters and the same each time', (most) => {
    const text = digestConversation(long, 'what was before', most);
    expect(text.length).toBeLessThanOrEqual(most);
    expect(digestConversation(long, 'what was before', most)).toBe(text);
  });

  test('holds the first request, later ones, what tools came to, and what was before', () => {
    const text = digestConversation(long, 'what was before', 4_000);
    for (const part of ['No model', 'what was before', 'ask 0', 'ask 399', 'grep completed 400×', 'say 399']) {
      expect(text).toContain(part);
    }
  });
});
