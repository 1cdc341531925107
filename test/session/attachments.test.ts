import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type AgentOptions, type Attachment } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';
import { PNG } from '../fixtures/image.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-attachments-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const workspace = join(folder, 'workspace');
const outside = join(folder, 'outside.txt');
mkdirSync(join(workspace, 'sub'), { recursive: true });
writeFileSync(join(workspace, 'sub', 'pixel.png'), PNG);
writeFileSync(outside, 'from outside');
symlinkSync(outside, join(workspace, 'link.txt'));
execFileSync('mkfifo', [join(folder, 'fifo')]);

async function start(options: Partial<AgentOptions> = {}, answers: readonly { text: string }[] = [{ text: 'seen' }]) {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  const model = new ScriptedModel(Array.from({ length: 8 }, (_, index) => answers[index] ?? { text: 'seen' }));
  const agent = runtime.agent({ id: 'clerk', model, workspace, ...options });
  const session = await agent.sessions.create({ sessionId: 's' });
  const parts = async () => {
    const { items } = await session.messages();
    return items.flatMap((message) => (message.role === 'user' ? message.parts : []));
  };
  return { runtime, agent, model, session, parts };
}

describe('attachments of a prompt', () => {
  test('become artifacts whatever they were given as, and the same bytes are one for all turns', async () => {
    const { runtime, session, parts, model } = await start();
    const dataUrl = `data:image/png;base64,${PNG.toString('base64')}`;
    const first: readonly Attachment[] = [
      outside,
      { path: 'sub/pixel.png' },
      dataUrl,
      { data: PNG, filename: 'mine.png', mediaType: 'text/plain' },
      { data: new Uint8Array(PNG).buffer },
      { type: 'file', mediaType: 'image/png', data: PNG.toString('base64') },
      'data:,hello%20there',
    ];
    expect(await session.send({ query: 'look', attachments: first })).toMatchObject({ status: 'completed' });
    const [query, text, ...images] = await parts();
    const hello = images.pop();
    expect(query).toEqual({ type: 'text', text: 'look' });
    expect(text).toMatchObject({
      type: 'file',
      mediaType: 'text/plain',
      filename: 'outside.txt',
      artifact: { bytes: 12 },
    });
    expect(hello).toMatchObject({ mediaType: 'text/plain', artifact: { bytes: 11 } });
    const digests = new Set(images.map((part) => (part.type === 'file' ? part.artifact?.digest : '')));
    expect([images.length, digests.size]).toEqual([5, 1]);
    expect(images.map((part) => (part.type === 'file' ? [part.mediaType, part.filename, part.data] : []))).toEqual([
      ['image/png', 'pixel.png', undefined],
      ['image/png', undefined, undefined],
      ['image/png', 'mine.png', undefined],
      ['image/png', undefined, undefined],
      ['image/png', undefined, undefined],
    ]);
    const [digest = ''] = digests;
    expect(Buffer.from((await session.artifact(digest)) ?? [])).toEqual(PNG);
    await session.send({ query: 'again', attachments: [{ artifact: digest, filename: 'same.png' }] });
    expect((await parts()).at(-1)).toMatchObject({ filename: 'same.png', artifact: { digest } });
    const shown = model.calls[1]?.prompt.at(-1)?.content;
    expect(shown).toEqual([
      { type: 'text', text: 'again' },
      { type: 'file', mediaType: 'image/png', data: new Uint8Array(PNG), filename: 'same.png' },
    ]);
    await runtime.dispose();
  });

  test.each<[string, Attachment, RegExp]>([
    ['a file that is not there', join(folder, 'none'), /no such file/],
    ['a folder', folder, /folder/],
    ['a FIFO', join(folder, 'fifo'), /not a regular file/],
    ['a device', '/dev/zero', /not a regular file/],
    ['a way out of the workspace', '../outside.txt', /out of the workspace/],
    ['a link out of the workspace', 'link.txt', /out of the workspace/],
    ['more bytes than may be', { data: Buffer.alloc(2_001) }, /2000/],
    ['a URL of another kind', 'https://example.com/a.png', /no other URL/],
    ['text that is not base64', 'data:image/png;base64,***', /base64/],
    ['a data URL without a comma', 'data:image/png', /comma/],
    ['an artifact that the session has not', { artifact: `sha256:${'0'.repeat(64)}` }, /no such artifact/],
    ['two sources', { path: 'a', data: PNG } as never, /one of path, data and artifact/],
    ['a type that is none', { data: PNG, mediaType: 'png' }, /media type/],
    ['a name with a slash', { data: PNG, filename: '../a' }, /slash/],
    ['a number', 5 as never, /a path, a data URL, bytes/],
    ['nothing', null as never, /a path, a data URL, bytes/],
  ])('that are %s are refused by their place, and nothing is accepted', async (_, attachment, reason) => {
    const { runtime, session, parts } = await start({ files: { maxBytes: 2_000 } });
    const sent = session.prompt({ query: 'look', attachments: [outside, attachment] });
    const error: unknown = await sent.catch((thrown: unknown) => thrown);
    expect(isPerdureError(error, 'PERDURE_INPUT_INVALID')).toBe(true);
    expect(String(error)).toMatch(/attachments\[1\]/);
    expect(String(error)).toMatch(reason);
    expect(await parts()).toEqual([]);
    await runtime.dispose();
  });

  test('are bounded in number and all together, and a file that has more than it said is not read on', async () => {
    const { runtime, session } = await start({ files: { maxCount: 3, maxBytes: 1_000, maxTotalBytes: 1_500 } });
    const send = (attachments: readonly Attachment[]) => session.prompt({ query: 'x', attachments });
    await expect(send([outside, outside, outside, outside])).rejects.toThrow(/attachments\[3\].*at most 3/);
    await expect(send([{ data: Buffer.alloc(900) }, { data: Buffer.alloc(700) }])).rejects.toThrow(/\[1\].*600 bytes/);
    // A file of the system, which says that it is empty.
    if (process.platform === 'linux') await expect(send(['/proc/self/smaps'])).rejects.toThrow(/\[0\].*1000 bytes/);
    await runtime.dispose();
  });

  test('are not read for a prompt that is there already, nor for one that is refused as busy', async () => {
    const { runtime, session } = await start();
    const path = join(folder, 'soon-gone.txt');
    writeFileSync(path, 'here');
    const first = await session.prompt({ query: 'look', attachments: [path], promptId: 'p' });
    await first.finished;
    rmSync(path);
    const again = await session.prompt({ query: 'look', attachments: [path], promptId: 'p' });
    expect([again.id, again.replayed]).toEqual([first.id, true]);
    await runtime.dispose();
    const gated = gatedModel([{ text: 'a' }]);
    const busy = await start({ model: gated.model });
    const running = await busy.session.prompt('go');
    const refused = busy.session.prompt({ query: 'x', attachments: [path], whenBusy: 'reject' });
    await expect(refused).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_SESSION_BUSY'));
    gated.release();
    await running.finished;
    await busy.runtime.dispose();
  });

  test('are a part of what a named run is started with: other bytes are another start', async () => {
    const { runtime, session } = await start();
    const send = (text: string) =>
      session.prompt({ query: 'x', runId: 'r', attachments: [{ data: Buffer.from(text) }] });
    const first = await send('one');
    expect((await send('one')).id).toBe(first.id);
    await expect(send('two')).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_RUN_IDENTITY_CONFLICT'));
    await runtime.dispose();
  });

  test('that others of the tenant have cannot be named nor read by a session without them [P17]', async () => {
    const { runtime, agent, session } = await start();
    await session.send({ query: 'keep', attachments: [{ data: Buffer.from('of s alone') }] });
    const [part] = (await session.messages()).items.flatMap((message) =>
      message.role === 'user' ? message.parts[1] : [],
    );
    const digest = part?.type === 'file' ? (part.artifact?.digest ?? '') : '';
    const other = await agent.sessions.create({ sessionId: 'other' });
    await expect(other.prompt({ query: 'x', attachments: [{ artifact: digest }] })).rejects.toThrow(/no such artifact/);
    expect(await other.artifact(digest)).toBeNull();
    expect(Buffer.from((await session.artifact(digest, { from: 3 })) ?? []).toString()).toBe('s alone');
    await runtime.dispose();
  });

  test('that are texts are kept and shown without registered secrets, in UTF-8 and UTF-16 [P16]', async () => {
    const SECRET = 'tok_5f4dcc3b5aa765d61d83';
    const place = mkdtempSync(join(folder, 'store-'));
    const model = new ScriptedModel([{ text: 'ok' }]);
    const runtime = await createTestRuntime({
      plugins: [{ plugin: storeSqlite, config: { path: join(place, 'perdure.db') } }, allowing],
      secrets: { TOKEN: SECRET },
    });
    const session = await runtime.agent({ id: 'clerk', model }).sessions.create();
    const text = `key = ${SECRET}\n`;
    const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
    const attachments: readonly Attachment[] = [
      { data: Buffer.from(text), filename: `${SECRET}.txt` },
      { data: wide, mediaType: 'application/octet-stream' },
      `data:application/json,${encodeURIComponent(JSON.stringify({ text }))}`,
    ];
    await session.send({ query: 'look', attachments });
    await session.close();
    await runtime.dispose();
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const stored = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
    expect(stored).not.toContain(SECRET);
    expect(stored).not.toContain(Buffer.from(SECRET, 'utf16le').toString('latin1'));
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain(SECRET);
    expect(JSON.stringify(model.calls[0]?.prompt).split('key = secret://TOKEN')).toHaveLength(4);
  });
});
