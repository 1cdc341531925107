import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PNG } from '../fixtures/image.js';
import { mcpNode, outputOf, ServerPlace } from '../fixtures/mcp.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-mcp-files-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The program of a published server that is installed here. */
function published(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`);
  return join(dirname(manifest), 'dist/index.js');
}

test('published servers work through a session: everything over its standard streams, and files', async () => {
  writeFileSync(join(folder, 'note.txt'), 'read me');
  const command = process.execPath;
  const write = { path: join(folder, 'new.txt'), content: 'written' };
  const script = [
    { calls: [{ name: 'mcp__files__read_text_file', input: { path: join(folder, 'note.txt') } }] },
    { calls: [{ name: 'mcp__files__write_file', input: write }] },
    { text: 'done' },
  ];
  const servers = {
    all: { command, args: [published('server-everything'), 'stdio'] },
    files: { command, args: [published('server-filesystem'), folder], trust: 'hints', confirm: 'never' },
  } as const;
  await using node = await mcpNode({ servers, script });
  const session = await node.agent.sessions.create();
  expect(await session.mcp.list()).toMatchObject([
    { name: 'all', state: 'ready', protocolVersion: '2025-11-25' },
    { name: 'files', state: 'ready', problems: [] },
  ]);
  expect(await outputOf(session, 'mcp__all__echo', { message: 'hello' })).toBe('Echo: hello');
  expect(await outputOf(session, 'mcp__all__get-sum', { a: 2, b: 3 })).toContain('5');
  const wrong = await session.governedTool('mcp__all__get-sum', { a: 'two', b: 3 });
  expect(wrong).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_TOOL_INPUT' } });
  expect(await outputOf(session, 'mcp__all__get-structured-content', { location: 'Chicago' })).toMatchObject({
    structured: { temperature: expect.any(Number), conditions: expect.any(String) },
  });
  expect(await outputOf(session, 'mcp__all__get-tiny-image')).toMatchObject({
    content: [{ type: 'text' }, { type: 'image', mediaType: 'image/png', file: '1-image' }, { type: 'text' }],
  });
  expect(await outputOf(session, 'mcp__all__get-resource-links', { count: 2 })).toMatchObject({
    content: [{ type: 'text' }, { type: 'resource-link' }, { type: 'resource-link' }],
  });
  expect(await outputOf(session, 'mcp__all__trigger-long-running-operation', { duration: 0.3, steps: 3 })).toContain(
    '3',
  );
  expect(await session.send('go')).toMatchObject({ status: 'completed', text: 'done' });
  expect(JSON.stringify(node.model.calls.at(1))).toContain('read me');
  expect(readFileSync(write.path, 'utf8')).toBe('written');
  const outside = await session.governedTool('mcp__files__read_text_file', { path: '/etc/passwd' });
  expect(outside).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_TOOL_FAILED' } });
});

test('what a result shows goes to the model as what it is, and to facts as artifacts', async () => {
  const place = new ServerPlace();
  const script = [{ calls: [{ name: 'mcp__s__show', input: {} }] }, { text: 'done' }];
  await using node = await mcpNode({ servers: { s: place.stdio() }, script });
  const session = await node.agent.sessions.create();
  await session.send('go');
  const [result] = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
  expect(result?.output).toEqual({
    content: [
      { type: 'image', mediaType: 'image/png', file: '1-image', bytes: PNG.length },
      { type: 'audio', mediaType: 'audio/wav', file: '2-audio', bytes: 4 },
      {
        ...{ type: 'resource', uri: 'file:///r/data.bin', mediaType: 'application/octet-stream' },
        ...{ file: '3-data.bin', bytes: 3 },
      },
      { type: 'resource-link', uri: 'file:///r/more', name: 'more' },
    ],
  });
  expect(result?.files?.map(({ filename }) => filename)).toEqual(['1-image', '2-audio', '3-data.bin']);
  expect(await session.artifact(result?.files?.[0]?.artifact?.digest ?? '')).toEqual(new Uint8Array(PNG));
  const shown = node.model.calls[1]?.prompt.at(-1)?.content;
  expect(shown).toContainEqual(expect.objectContaining({ type: 'file', mediaType: 'image/png', filename: '1-image' }));
  place.remove();
});
