import type { FileOptions } from '@perdure/plugin-api';
import { z } from 'zod';

const positive = z.int().positive();
const MEDIA_RANGE = /^[a-z0-9!#$&^_.+-]+\/(?:\*|[a-z0-9!#$&^_.+-]+)$/;

/** What an agent may say of files, with what holds where it says nothing. */
export const fileOptions = z.strictObject({
  maxCount: positive.max(1_000).default(32),
  maxBytes: positive.default(32 * 1024 * 1024),
  maxTotalBytes: positive.default(64 * 1024 * 1024),
  shown: z
    .array(z.string().regex(MEDIA_RANGE, 'it is a media type or a range of them, as image/*'))
    .default(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  ofTools: z.enum(['message', 'result']).default('message'),
});

/** Checked, with every member. */
export type ResolvedFileOptions = Required<FileOptions>;

/** Whether models are given files of this type as they are. */
export function isShown(mediaType: string, { shown }: Pick<ResolvedFileOptions, 'shown'>): boolean {
  return shown.some((range) => (range.endsWith('/*') ? mediaType.startsWith(range.slice(0, -1)) : range === mediaType));
}
