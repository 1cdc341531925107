import { providerMetadata, type ProviderMetadata } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { ModelCallContent, ModelContent, ModelStreamPart } from './language-model.js';

/** Members of a part that are texts whenever it has content. */
const TEXTS: { readonly [Type in ModelStreamPart['type']]?: readonly string[] } = {
  'text-delta': ['delta'],
  'reasoning-delta': ['delta'],
  'tool-input-start': ['id', 'toolName'],
  'tool-input-delta': ['id', 'delta'],
  'tool-call': ['toolCallId', 'toolName', 'input'],
  file: ['mediaType'],
};

/**
 * A piece of an answer as the rest of the runtime may rely on it: models are code of others, and types of theirs prove
 * nothing. Throws PERDURE_MODEL_PROTOCOL. Metadata that would not survive being stored is left out.
 */
export function checkStreamPart(part: ModelStreamPart): ModelStreamPart {
  if (typeof part !== 'object' || part === null) throw broken();
  const members = part as unknown as Readonly<Record<string, unknown>>;
  for (const name of TEXTS[part.type] ?? []) if (typeof members[name] !== 'string') throw broken();
  if (part.type === 'file') return checkFile(part);
  const { providerMetadata: metadata } = members;
  if (metadata === undefined) return part;
  const kept = storable(metadata);
  return kept === metadata ? part : ({ ...part, providerMetadata: kept } as ModelStreamPart);
}

/** The same for a part of an answer that came whole. */
export function checkContent(part: ModelContent): ModelContent {
  if (typeof part !== 'object' || part === null) throw broken();
  if (part.type === 'text' || part.type === 'reasoning') {
    if (typeof part.text !== 'string') throw broken();
    const { providerMetadata: metadata, ...rest } = part;
    const kept = metadata === undefined ? undefined : storable(metadata);
    return kept === undefined ? rest : { ...rest, providerMetadata: kept };
  }
  if (part.type === 'tool-call') return checkStreamPart(part) as ModelContent & ModelCallContent;
  return part.type === 'file' ? (checkStreamPart(part) as ModelContent) : part;
}

type ModelFilePart = Extract<ModelStreamPart, { readonly type: 'file' }>;

/** Version 4 tags the data of a file: with their kind, or as a URL, which stays one. */
function checkFile({ mediaType, data }: ModelFilePart): ModelFilePart {
  const tagged = (typeof data === 'object' && data !== null ? data : {}) as {
    readonly data?: unknown;
    readonly url?: unknown;
  };
  const plain: unknown =
    data instanceof Uint8Array ? data : (tagged.data ?? (tagged.url === undefined ? data : String(tagged.url)));
  if (typeof plain !== 'string' && !(plain instanceof Uint8Array)) throw broken();
  return { type: 'file', mediaType, data: plain };
}

function storable(metadata: unknown): ProviderMetadata | undefined {
  try {
    const parsed = providerMetadata.safeParse(metadata);
    if (!parsed.success) return undefined;
    JSON.stringify(metadata);
    return metadata as ProviderMetadata;
  } catch {
    return undefined;
  }
}

function broken(): PerdureError {
  return new PerdureError('PERDURE_MODEL_PROTOCOL');
}
