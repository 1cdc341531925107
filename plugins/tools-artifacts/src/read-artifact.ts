import type { ArtifactReference, JsonValue } from '@perdure/events';
import {
  isTextType,
  READ_ARTIFACT,
  withFiles,
  type SessionArtifacts,
  type Tool,
  type ToolContext,
  type ToolFailure,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { findPlaces } from './find-places.js';
import { readWindow, type ByteSource } from './text-window.js';

const input = z.strictObject({
  artifact: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .describe('The digest that an excerpt or a file names.'),
  offset: z.int().min(0).default(0).describe('Bytes to skip.'),
  limit: z.int().min(16).max(65_536).default(16_384).describe('The most bytes to return.'),
  find: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Return the places of this exact text from offset on instead.'),
});
type Input = z.output<typeof input>;

/** A part of an artifact, or the places of a text in it. Only what the session's facts name can be read. */
export const readArtifactTool: Tool = {
  description:
    'Reads a part of a large output or of an attached file, which an excerpt names as an artifact. When next_offset ' +
    'is there, go on with offset: next_offset. With find it lists where a text stands. Images are shown.',
  inputSchema: input,
  effect: 'read',
  execute: async (given: Input, { artifacts, abortSignal }: ToolContext): Promise<JsonValue> => {
    const { artifact, offset, limit, find } = input.parse(given);
    const reference = artifacts?.find(artifact);
    if (artifacts === undefined || reference === undefined) {
      throw failure('artifact_not_found', `The session has no artifact ${artifact}.`);
    }
    const about = { artifact, media_type: reference.mediaType, total_bytes: reference.bytes };
    if (!isTextType(reference.mediaType)) return shown(about, reference);
    const source = sourceOf(artifacts, artifact);
    if (find !== undefined) {
      const { places, next } = await findPlaces(source, { text: find, offset, total: reference.bytes }, abortSignal);
      return { ...about, matches: places.map((place) => ({ ...place })), ...nextOf(next) };
    }
    for (let size = limit; ; size = Math.floor(size / 2)) {
      const { content, from, to } = await readWindow(source, offset, size);
      const output = { ...about, start_offset: from, end_offset: to, content };
      const whole = { ...output, ...nextOf(to < reference.bytes ? to : undefined) };
      // What is longer than models are shown would only become another artifact.
      if (size <= 32 || JSON.stringify(whole).length <= artifacts.outputCharacters) return whole;
    }
  },
  permissionSubjects: ({ artifact }: { readonly artifact?: unknown }) => [String(artifact)],
};

/** Bytes cannot be read as text: what is an image is shown beside the output, where the agent's models take it. */
function shown(about: Readonly<Record<string, JsonValue>>, artifact: ArtifactReference): JsonValue {
  return withFiles({ ...about, content: null }, [{ type: 'file', mediaType: artifact.mediaType, artifact }]);
}

function nextOf(offset: number | undefined): { readonly next_offset?: number } {
  return offset === undefined ? {} : { next_offset: offset };
}

function sourceOf(artifacts: SessionArtifacts, digest: string): ByteSource {
  return async (from, to) => {
    const bytes = await artifacts.read(digest, { from, to });
    if (bytes === undefined) throw failure('artifact_gone', `The artifact ${digest} is no longer kept.`);
    return bytes;
  };
}

function failure(code: string, message: string): Error & ToolFailure {
  return Object.assign(new Error(`${READ_ARTIFACT}: ${message}`), { code });
}
