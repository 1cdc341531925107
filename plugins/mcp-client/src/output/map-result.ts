import type { JsonValue } from '@perdure/events';
import { cutText, withFiles, type ToolFile } from '@perdure/plugin-api';
import type { CallAnswer } from '../connection/connection.js';

/** Images, sounds and the like beside one output; what is more is left out and told. */
const MOST_FILES = 16;
const MOST_UNASKED = 10;
const LONGEST_FAILURE = 8_192;

type Part = CallAnswer['result']['content'][number];

/** What a server says went wrong in a call. */
export function failureText({ result }: CallAnswer): string {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return cutText(texts.join('\n'), LONGEST_FAILURE).trim() || 'the server tells no reason';
}

/**
 * An answer as a tool's output: a text when it is nothing but texts, else its parts, and the structured value beside
 * them. Images, sounds and other bytes are files beside the output, which names them.
 */
export function outputOf({ result, unasked }: CallAnswer): JsonValue {
  const { structuredContent: structured } = result;
  const content = structured === undefined ? result.content : result.content.filter((part) => !says(part, structured));
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (structured === undefined && unasked.length === 0 && texts.length === content.length) return texts.join('\n\n');
  const files: ToolFile[] = [];
  const output = {
    ...(content.length === 0 ? {} : { content: content.map((part) => partOf(part, files)) }),
    ...(structured === undefined ? {} : { structured: structured as JsonValue }),
    ...(unasked.length === 0 ? {} : { unasked: unasked.slice(0, MOST_UNASKED).map((each) => ({ ...each })) }),
  };
  return withFiles(output, files);
}

/** Servers repeat the structured value as text, for clients that know no other. */
function says(part: Part, structured: unknown): boolean {
  if (part.type !== 'text') return false;
  try {
    return JSON.stringify(JSON.parse(part.text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function partOf(part: Part, files: ToolFile[]): JsonValue {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
    case 'audio':
      return { type: part.type, mediaType: part.mimeType, ...kept(part.data, part.mimeType, part.type, files) };
    case 'resource_link':
      return {
        type: 'resource-link',
        uri: part.uri,
        name: part.name,
        ...(part.mimeType === undefined ? {} : { mediaType: part.mimeType }),
        ...(part.description === undefined ? {} : { description: part.description }),
      };
    case 'resource': {
      const { resource } = part;
      const mediaType = resource.mimeType === undefined ? {} : { mediaType: resource.mimeType };
      const name = lastSegment(resource.uri);
      const held = 'text' in resource ? { text: resource.text } : kept(resource.blob, resource.mimeType, name, files);
      return { type: 'resource', uri: resource.uri, ...mediaType, ...held };
    }
  }
}

/** Puts bytes beside the output, and says by which name. */
function kept(
  data: string,
  mediaType: string | undefined,
  name: string,
  files: ToolFile[],
): { readonly file: string; readonly bytes: number } | { readonly leftOutBytes: number } {
  const bytes = Buffer.from(data, 'base64');
  if (files.length >= MOST_FILES) return { leftOutBytes: bytes.length };
  const file = `${files.length + 1}-${name}`;
  files.push({ bytes, filename: file, ...(mediaType === undefined ? {} : { mediaType }) });
  return { file, bytes: bytes.length };
}

/** What a resource is called, as far as a name of a file may be. */
function lastSegment(uri: string): string {
  const name = /([A-Za-z0-9._-]{1,100})\/?(?:[?#].*)?$/.exec(uri)?.[1];
  return name ?? 'resource';
}
