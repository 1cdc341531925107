import type { AnswerPart, ArtifactReference, FilePart, JsonValue, StoredMessage, UserPart } from '@perdure/events';
import { PerdureError, type ArtifactStore, type ToolResultPart, READ_ARTIFACT } from '@perdure/plugin-api';
import { excerptOf } from '../invoke/output-excerpt.js';

/** Characters of a text that stay in a message too large for a fact; the next lower one where that is not enough. */
const CUTS = [65_536, 16_384, 4_096, 1_024] as const;

/** Puts what is too long for a fact into the artifact store, and remembers what it put there. */
export class LongTexts {
  readonly artifacts: ArtifactReference[] = [];

  constructor(
    private readonly store: ArtifactStore | undefined,
    private readonly tenant: string | undefined,
  ) {}

  /** A text as it is, or its beginning and end when it is longer than that. */
  async cut(text: string, limit: number): Promise<string> {
    if (text.length <= limit) return text;
    const { digest } = await this.put(Buffer.from(text), 'text/plain');
    return excerptOf(text, limit, { digest, reader: READ_ARTIFACT });
  }

  /** Throws PERDURE_TOKEN_MISSING where there is no artifact store: nothing is left out. */
  async put(bytes: Uint8Array, mediaType: string): Promise<ArtifactReference> {
    if (this.store === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: 'artifact-store' });
    const digest = await this.store.put(this.tenant, bytes);
    const known = this.artifacts.find((artifact) => artifact.digest === digest);
    if (known !== undefined) return known;
    const artifact = { digest, bytes: bytes.length, mediaType };
    this.artifacts.push(artifact);
    return artifact;
  }
}

/** A message that a fact has room for; `undefined` when it is too large however much is put aside. */
export async function shortened(
  message: StoredMessage,
  texts: LongTexts,
  maxBytes: number,
): Promise<StoredMessage | undefined> {
  if (bytesOf(message) <= maxBytes) return message;
  for (const limit of CUTS) {
    const shorter = await shorterParts(message, texts, limit);
    if (bytesOf(shorter) <= maxBytes) return shorter;
  }
  return undefined;
}

export function bytesOf(message: StoredMessage): number {
  return Buffer.byteLength(JSON.stringify(message));
}

async function shorterParts(message: StoredMessage, texts: LongTexts, limit: number): Promise<StoredMessage> {
  switch (message.role) {
    case 'user': {
      const parts: UserPart[] = [];
      for (const part of message.parts) parts.push(await shorterUserPart(part, texts, limit));
      return { ...message, parts };
    }
    case 'assistant': {
      const parts: AnswerPart[] = [];
      for (const part of message.parts) parts.push(await shorterAnswerPart(part, texts, limit));
      return { ...message, parts };
    }
    case 'tool': {
      const parts: ToolResultPart[] = [];
      for (const part of message.parts) parts.push(await shorterResult(part, texts, limit));
      return { ...message, parts };
    }
  }
}

async function shorterUserPart(part: UserPart, texts: LongTexts, limit: number): Promise<UserPart> {
  if (part.type === 'file') return asideFile(part, texts, limit);
  return part.text.length <= limit ? part : { type: 'text', text: await texts.cut(part.text, limit) };
}

async function shorterAnswerPart(part: AnswerPart, texts: LongTexts, limit: number): Promise<AnswerPart> {
  switch (part.type) {
    case 'file':
      return asideFile(part, texts, limit);
    case 'text':
    case 'reasoning':
      // What a provider signed it would refuse in another form.
      return part.text.length <= limit ? part : { type: part.type, text: await texts.cut(part.text, limit) };
    case 'tool-call': {
      const text = part.invalidInput ?? JSON.stringify(part.input ?? {});
      if (text.length <= limit) return part;
      const { input: _, ...rest } = part;
      const excerpt = await texts.cut(text, limit);
      return part.invalidInput === undefined
        ? { ...rest, input: { excerpt } satisfies JsonValue }
        : { ...rest, invalidInput: excerpt };
    }
  }
}

async function shorterResult(part: ToolResultPart, texts: LongTexts, limit: number): Promise<ToolResultPart> {
  const { output } = part;
  const text = typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output);
  if (text.length <= limit) return part;
  const mediaType = typeof output === 'string' ? 'text/plain' : 'application/json';
  const artifact = await texts.put(Buffer.from(text), mediaType);
  return { ...part, output: excerptOf(text, limit, { digest: artifact.digest, reader: READ_ARTIFACT }), artifact };
}

async function asideFile(part: FilePart, texts: LongTexts, limit: number): Promise<FilePart> {
  const { data, ...rest } = part;
  if (data === undefined || data.length <= limit) return part;
  const base64 = /^data:[^,]*;base64,/.exec(data);
  const bytes = Buffer.from(base64 === null ? data : data.slice(base64[0].length), 'base64');
  return { ...rest, artifact: await texts.put(bytes, part.mediaType) };
}
