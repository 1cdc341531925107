import type { Redactor } from '@perdure/plugin-api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Redaction } from '../secrets/redaction.js';
import { SecretRegistry } from '../secrets/secret-registry.js';
import { AnswerBuilder, type AnswerDelta } from './answer-builder.js';
import type { ModelStreamPart } from './language-model.js';

const SECRET = 'tok_9f8e7d6c"5b.4a';
const keys: Redactor = {
  id: 'keys',
  maxMatch: 20,
  find: (text) =>
    Array.from(text.matchAll(/key\.[a-z0-9]{12}/g), ({ index, 0: { length } }) => ({
      start: index,
      end: index + length,
      kind: 'key',
    })),
  continues: () => false,
  mayBegin: (tail) => /key\.[a-z0-9]*$/.test(tail),
};
const redaction = new Redaction(new SecretRegistry({ TOKEN: SECRET }), [keys]);

const text = (id: string, delta: string): ModelStreamPart => ({ type: 'text-delta', id, delta });
const ended = (id: string): ModelStreamPart => ({ type: 'text-end', id });
const thought = (id: string, delta: string): ModelStreamPart => ({ type: 'reasoning-delta', id, delta });
const call = (toolCallId: string): ModelStreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'look',
  input: '{"at":1}',
});
const file: ModelStreamPart = { type: 'file', mediaType: 'image/png', data: 'aGk=' };

function build(parts: readonly ModelStreamPart[]) {
  const deltas: AnswerDelta[] = [];
  const builder = new AnswerBuilder('s', 'step', redaction, (delta) => void deltas.push(delta));
  for (const part of parts) builder.add(part);
  return { builder, deltas };
}

/** The texts of the deltas, by their parts. */
function textsOf(deltas: readonly AnswerDelta[], kind: 'text' | 'reasoning'): readonly string[] {
  const texts = new Map<number, string>();
  for (const delta of deltas) {
    if (delta.kind === kind) texts.set(delta.part, `${texts.get(delta.part) ?? ''}${delta.text}`);
  }
  return [...texts.values()];
}

const between: Readonly<Record<string, readonly ModelStreamPart[]>> = {
  nothing: [],
  'the end of the text': [ended('a')],
  reasoning: [ended('a'), thought('r', 'so it is')],
  'a call': [ended('a'), call('c1')],
  'a file': [file],
  'calls and reasoning': [call('c1'), thought('r', 'hm.'), thought('q', 'yes'), call('c2')],
};

describe('a secret that is split over texts of an answer [P16]', () => {
  test.each(Object.entries(between))('with %s between them is neither streamed nor kept', (_, middle) => {
    for (const secret of [SECRET, 'key.abcdef012345', Buffer.from(`the ${SECRET} it is`).toString('base64')]) {
      for (let at = 1; at < secret.length; at++) {
        const before = text('a', `It is ${secret.slice(0, at)}`);
        const { builder, deltas } = build([before, ...middle, text('b', `${secret.slice(at)} here.`)]);
        const parts = builder.finish();
        const kept = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
        expect(textsOf(deltas, 'text')).toEqual(kept);
        expect(kept.join('')).toBe(redaction.redactText(`It is ${secret} here.`));
        expect(kept.join('')).not.toContain(secret.slice(4, 12));
      }
    }
  });

  test('is not streamed or kept when the answer breaks off before its end is known', () => {
    const { builder, deltas } = build([text('a', `It is ${SECRET.slice(0, 12)}`), ended('a'), call('c')]);
    expect(builder.breakOff()).toEqual([{ type: 'text', text: 'It is ' }]);
    expect(textsOf(deltas, 'text')).toEqual(['It is ']);
    expect(deltas.every(({ kind }) => kind === 'text')).toBe(true);
  });

  test('over parts of reasoning is not streamed either', () => {
    const { builder, deltas } = build([
      thought('a', SECRET.slice(0, 9)),
      thought('b', SECRET.slice(9)),
      text('c', 'x'),
    ]);
    const kept = builder.finish().flatMap((part) => (part.type === 'reasoning' ? part.text : []));
    expect(kept.join('')).toBe('secret://TOKEN');
    expect(textsOf(deltas, 'reasoning')).toEqual(kept);
  });

  test('keeps back nothing that cannot be one: a call is told at once behind a sentence', () => {
    const { deltas } = build([
      text('a', 'Let me look:'),
      ended('a'),
      { type: 'tool-input-start', id: 'c', toolName: 'look' },
    ]);
    expect(deltas).toEqual([
      { part: 0, kind: 'text', text: 'Let me ' },
      { part: 0, kind: 'text', text: 'look:' },
      { part: 1, kind: 'tool-start', callId: expect.any(String), name: 'look' },
    ]);
  });

  test('or none: pieces are told part after part, and add up to what is kept', () => {
    const piece = fc.constantFrom<ModelStreamPart>(
      ...['tok_9f8e', '7d6c"', '5b.4a', ' and ', 'so.', 'key.', 'abcdef', '012345'].flatMap((each) => [
        text('a', each),
        text('b', each),
        thought('r', each),
      ]),
      ended('a'),
      file,
      { type: 'tool-input-start', id: 'c', toolName: 'look' },
      { type: 'tool-input-delta', id: 'c', delta: '{}' },
      { type: 'tool-input-start', id: 'd', toolName: 'look' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' },
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), fc.boolean(), (pieces, breaks) => {
        const { builder, deltas } = build(pieces);
        const parts = breaks ? builder.breakOff() : builder.finish();
        const numbers = deltas.map(({ part }) => part);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        if (!breaks) expect(new Set(numbers).size).toBe(parts.length);
        const all = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
        for (const [index, part] of parts.entries()) {
          const told = deltas.filter((delta) => delta.part === index);
          if (part.type === 'text' || part.type === 'reasoning') {
            expect(textsOf(told, part.type)).toEqual([part.text]);
          } else expect(told[0]?.kind).toBe(part.type === 'file' ? 'file' : 'tool-start');
        }
        expect(redaction.redactText(all)).toBe(all);
      }),
      { numRuns: 2_000 },
    );
  });
});
