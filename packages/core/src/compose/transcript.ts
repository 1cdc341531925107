import { answerText, type ArtifactReference, type JsonValue, type UserPart } from '@perdure/events';
import type { Message, ToolResultPart } from '@perdure/plugin-api';

/** Characters of one message at most, and where space is short at least. */
const LONGEST = 8_000;
const SHORTEST = 200;
/** Of what does not fit, so much is of the beginning. */
const BEGINNING = 0.25;

/**
 * A conversation as a text, for a model that sums it up. Bytes of files and artifacts are named and not repeated. Long
 * messages lose their middle, and a conversation that is still too long loses whole messages of its middle.
 */
export function renderTranscript(messages: readonly Message[], earlier: string | undefined, most: number): string {
  const texts = messages.map(transcriptOf).filter((text) => text !== '');
  const first = earlier === undefined ? [] : [`Summary of what was before:\n${shorten(earlier, Math.floor(most / 3))}`];
  const room = most - first.reduce((sum, text) => sum + text.length, 0);
  for (let longest = LONGEST; ; longest = Math.floor(longest / 2)) {
    const cut = texts.map((text) => shorten(text, longest));
    if (sizeOf(cut) <= room) return [...first, ...cut].join(SEPARATOR);
    if (longest <= SHORTEST) return [...first, ...withoutMiddle(cut, room)].join(SEPARATOR);
  }
}

const SEPARATOR = '\n\n';

/** A text without its middle, when it is longer than it may be. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const mark = ` [… ${text.length - longest} characters …] `;
  const room = Math.max(0, longest - mark.length);
  const head = Math.ceil(room * 0.6);
  return `${text.slice(0, head)}${mark}${room === head ? '' : text.slice(head - room)}`.slice(0, longest);
}

/** One message as a text; empty for one that says nothing. */
export function transcriptOf(message: Message): string {
  switch (message.role) {
    case 'user':
      return labelled('User', message.parts.map(userText));
    case 'assistant': {
      const calls = message.status === 'complete' ? message.parts : [];
      const texts = calls.flatMap((part) => {
        if (part.type === 'tool-call')
          return [`[called ${part.name} ${compact(part.invalidInput ?? part.input ?? {})}]`];
        return part.type === 'file' ? [`[made a file: ${part.mediaType}]`] : [];
      });
      return labelled('Assistant', [answerText(message.parts), ...texts]);
    }
    case 'tool':
      return labelled('Tools', message.parts.map(resultText));
  }
}

function labelled(label: string, texts: readonly string[]): string {
  const said = texts.filter((text) => text !== '').join('\n');
  return said === '' ? '' : `${label}: ${said}`;
}

function userText(part: UserPart): string {
  return part.type === 'text' ? part.text : fileName(part);
}

/** How a file is named where its bytes are left out. */
export function fileName(part: Extract<UserPart, { type: 'file' }>): string {
  const { artifact, data = '' } = part;
  const at = /^https?:/.test(data) ? ` at ${shorten(data, 500)}` : '';
  const named = part.filename === undefined ? part.mediaType : `${part.filename}, ${part.mediaType}`;
  return `[file ${named}${at}${kept(artifact)}]`;
}

export function resultText({ name, status, output, artifact, failure }: ToolResultPart): string {
  const said = output === undefined ? '' : ` ${compact(output)}`;
  const why = failure === undefined ? '' : ` ${failure.code}: ${failure.message}`;
  return `[${name} ${status}:${why}${said}${kept(artifact)}]`;
}

function kept(artifact: ArtifactReference | undefined): string {
  return artifact === undefined ? '' : `, kept whole as ${artifact.digest} (${artifact.bytes} bytes)`;
}

function compact(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length + SEPARATOR.length, 0);
}

function withoutMiddle(texts: readonly string[], room: number): string[] {
  const head: string[] = [];
  const tail: string[] = [];
  const mark = 64;
  let left = room * BEGINNING;
  let from = 0;
  for (; from < texts.length; from++) {
    const text = texts[from] as string;
    left -= text.length + SEPARATOR.length;
    if (left < 0) break;
    head.push(text);
  }
  left = room - sizeOf(head) - mark;
  let to = texts.length;
  for (; to > from; to--) {
    const text = texts[to - 1] as string;
    left -= text.length + SEPARATOR.length;
    if (left < 0) break;
    tail.unshift(text);
  }
  return to === from ? [...head, ...tail] : [...head, `[… ${to - from} messages left out …]`, ...tail];
}
