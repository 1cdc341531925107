import { createHash } from 'node:crypto';
import type { JsonValue } from '@perdure/events';
import { filesOf, noCalls, type SessionArtifacts, type ToolContext } from '@perdure/plugin-api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readArtifactTool } from './read-artifact.js';

function artifactsOf(bytes: Uint8Array, mediaType = 'text/plain', outputCharacters = 65_536) {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const artifacts: SessionArtifacts = {
    outputCharacters,
    find: (given) => (given === digest ? { digest, bytes: bytes.byteLength, mediaType } : undefined),
    read: (_, { from, to } = {}) => Promise.resolve(bytes.slice(from, to)),
  };
  return { digest, artifacts };
}

async function read(
  { digest, artifacts }: ReturnType<typeof artifactsOf>,
  input: object = {},
): Promise<Record<string, JsonValue>> {
  const context: ToolContext = {
    toolCallId: 'c',
    abortSignal: new AbortController().signal,
    idempotencyKey: 'k',
    sessionId: 's',
    calls: noCalls,
    artifacts,
  };
  return (await readArtifactTool.execute?.({ artifact: digest, ...input } as never, context)) as never;
}

describe('read_artifact', () => {
  test('gives a text part by part, without a character lost or cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 16, max: 64 }),
        async (text, limit) => {
          const source = artifactsOf(new TextEncoder().encode(text));
          let seen = '';
          let offset: JsonValue | undefined = 0;
          while (offset !== undefined) {
            const part: Record<string, JsonValue> = await read(source, { offset, limit });
            seen += String(part['content']);
            offset = part['next_offset'];
          }
          expect(seen).toBe(text);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('finds a text at every place, also over the joint of two windows, and goes on behind the fiftieth', async () => {
    const joint = 'x'.repeat(1024 * 1024 - 3) + 'needle' + 'y'.repeat(500);
    const { matches } = await read(artifactsOf(Buffer.from(joint)), { find: 'needle' });
    expect(matches).toEqual([{ offset: 1024 * 1024 - 3, text: `${'x'.repeat(80)}needle${'y'.repeat(80)}` }]);
    const many = artifactsOf(Buffer.from('é needle\n'.repeat(120)));
    const offsets: number[] = [];
    let offset: JsonValue | undefined = 0;
    while (offset !== undefined) {
      const found: Record<string, JsonValue> = await read(many, { find: 'needle', offset });
      offsets.push(...(found['matches'] as { offset: number }[]).map((match) => match.offset));
      offset = found['next_offset'];
    }
    expect(offsets).toEqual(Array.from({ length: 120 }, (_, index) => index * 10 + 3));
  });

  test('stays below what models are shown of an output, whatever its escapes', async () => {
    const small = artifactsOf(Buffer.from('"\n'.repeat(4_000)), 'application/json', 1_000);
    const part = await read(small, { limit: 8_000 });
    expect(JSON.stringify(part).length).toBeLessThanOrEqual(1_000);
    expect(part['next_offset']).toBe(part['end_offset']);
  });

  test('shows an image beside its output, and knows nothing that the session does not name', async () => {
    const image = artifactsOf(Buffer.from('89504e470d0a1a0a', 'hex'), 'image/png');
    const output = await read(image);
    expect(output).toMatchObject({ media_type: 'image/png', total_bytes: 8, content: null });
    expect(filesOf(output)).toMatchObject([{ artifact: { digest: image.digest } }]);
    const other = { ...image, digest: `sha256:${'0'.repeat(64)}` };
    await expect(read(other)).rejects.toMatchObject({ code: 'artifact_not_found' });
  });
});
