import { expect, test } from 'vitest';
import { failureText, outputOf } from './map-result.js';

type Result = Parameters<typeof outputOf>[0]['result'];
const output = (result: Partial<Result>, declined: readonly string[] = []) =>
  outputOf({ result: { content: [], ...result }, declined });

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
  expect(output({ content })).toEqual({
    content: [
      { type: 'text', text: 'see' },
      { type: 'audio', mediaType: 'audio/wav', data: 'AAAA' },
      { type: 'resource-link', uri: 'file:///a', name: 'a', mediaType: 'text/plain' },
      { type: 'resource', uri: 'file:///b', text: 'b' },
      { type: 'resource', uri: 'file:///c', mediaType: 'x/y', data: 'AAAA' },
    ],
  });
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
  const image = { type: 'image' as const, data: 'A'.repeat(200_000), mimeType: 'image/png' };
  const { content } = output({ content: [image, image, image] }) as { content: object[] };
  expect(content.map((part) => 'data' in part)).toEqual([true, false, false]);
  expect(content[1]).toEqual({ type: 'image', mediaType: 'image/png', leftOutBytes: 150_000 });
});

test('a failure has a reason, however long or empty', () => {
  const text = (said: string): string =>
    failureText({ result: { content: [{ type: 'text', text: said }], isError: true }, declined: [] });
  expect(text('no such file')).toBe('no such file');
  expect(text('  ')).toBe('the server tells no reason');
  expect(text('x'.repeat(100_000))).toHaveLength(8_192);
});
