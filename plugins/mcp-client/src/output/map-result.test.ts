import { filesOf } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { failureText, outputOf } from './map-result.js';

type Result = Parameters<typeof outputOf>[0]['result'];
const output = (result: Partial<Result>) => outputOf({ result: { content: [], ...result }, unasked: [] });

test('texts alone are a text, and all else keeps its parts', () => {
  expect(
    output({
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    }),
  ).toBe('a\n\nb');
  expect(output({})).toBe('');
  const content: Result['content'] = [
    { type: 'text', text: 'see' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain' },
    { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
    { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA', mimeType: 'x/y' } },
  ];
  expect(JSON.parse(JSON.stringify(output({ content })))).toEqual({
    content: [
      { type: 'text', text: 'see' },
      { type: 'audio', mediaType: 'audio/wav', file: '1-audio', bytes: 3 },
      { type: 'resource-link', uri: 'file:///a', name: 'a', mediaType: 'text/plain' },
      { type: 'resource', uri: 'file:///b', text: 'b' },
      { type: 'resource', uri: 'file:///c', mediaType: 'x/y', file: '2-c', bytes: 3 },
    ],
  });
  expect(filesOf(output({ content }))).toEqual([
    { bytes: Buffer.alloc(3), filename: '1-audio', mediaType: 'audio/wav' },
    { bytes: Buffer.alloc(3), filename: '2-c', mediaType: 'x/y' },
  ]);
});

test('a structured value is not said twice', () => {
  const structuredContent = { a: 1 };
  const content: Result['content'] = [{ type: 'text', text: '{ "a": 1 }' }];
  expect(output({ content, structuredContent })).toEqual({ structured: { a: 1 } });
  const other: Result['content'] = [{ type: 'text', text: 'one' }];
  expect(output({ content: other, structuredContent })).toMatchObject({
    content: [{ text: 'one' }],
    structured: { a: 1 },
  });
});

test('images beyond the bound are left out and told', () => {
  const image = { type: 'image' as const, data: 'A'.repeat(200), mimeType: 'image/png' };
  const given = output({ content: Array.from({ length: 20 }, () => image) });
  const { content } = given as { content: object[] };
  expect(filesOf(given)).toHaveLength(16);
  expect(content[15]).toEqual({ type: 'image', mediaType: 'image/png', file: '16-image', bytes: 150 });
  expect(content[16]).toEqual({ type: 'image', mediaType: 'image/png', leftOutBytes: 150 });
});

test('a failure has a reason, however long or empty', () => {
  const text = (said: string): string =>
    failureText({ result: { content: [{ type: 'text', text: said }], isError: true }, unasked: [] });
  expect(text('no such file')).toBe('no such file');
  expect(text('  ')).toBe('the server tells no reason');
  expect(text('it is gone '.repeat(10_000))).toHaveLength('it is gone '.length * 744 + 'it is gone'.length);
  // What may be a part of a credential is left out.
  expect(text(`gone: ${'x'.repeat(100_000)}`)).toBe('gone:');
});
