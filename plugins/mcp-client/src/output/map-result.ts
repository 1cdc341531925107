import type { JsonValue } from '@perdure/events';
import { cutText } from '@perdure/plugin-api';
import type { CallAnswer } from '../connection/connection.js';

/** Bytes of images, sounds and the like that an output holds, all together; what is more is left out and told. */
const MOST_BINARY_BYTES = 256 * 1024;
const LONGEST_FAILURE = 8_192;

type Part = CallAnswer['result']['content'][number];

/** What a server says went wrong in a call. */
export function failureText({ result }: CallAnswer): string {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return cutText(texts.join('\n'), LONGEST_FAILURE).trim() || 'the server tells no reason';
}

/**
 * An answer as a tool's output: a text when it is nothing but texts, else its parts, and the structured value beside
 * them.
 */
export function outputOf({ result, declined }: CallAnswer): JsonValue {
  const { structuredContent: structured } = result;
  const content = structured === undefined ? result.content : result.content.filter((part) => !says(part, structured));
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (structured === undefined && declined.length === 0 && texts.length === content.length) return texts.join('\n\n');
  const room = { bytes: MOST_BINARY_BYTES };
  return {
    ...(content.length === 0 ? {} : { content: content.map((part) => partOf(part, room)) }),
    ...(structured === undefined ? {} : { structured: structured as JsonValue }),
    ...(declined.length === 0
      ? {}
      : {
          declined: declined.slice(0, 10).map((asked) => ({ code: 'PERDURE_TOOL_ASKS', asked: asked.slice(0, 1_024) })),
        }),
  };
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

function partOf(part: Part, room: { bytes: number }): JsonValue {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
    case 'audio':
      return { type: part.type, mediaType: part.mimeType, ...binary(part.data, room) };
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
      const held = 'text' in resource ? { text: resource.text } : binary(resource.blob, room);
      return { type: 'resource', uri: resource.uri, ...mediaType, ...held };
    }
  }
}

function binary(data: string, room: { bytes: number }): { readonly data: string } | { readonly leftOutBytes: number } {
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > room.bytes) return { leftOutBytes: bytes };
  room.bytes -= bytes;
  return { data };
}
