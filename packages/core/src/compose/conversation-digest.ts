import { answerText } from '@perdure/events';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '@perdure/plugin-api';
import { fileName, resultText, shorten } from './transcript.js';

/** The shares of the room that each part may take. */
const SHARES = { earlier: 0.3, first: 0.15, prompts: 0.25, calls: 0.2, last: 0.1 } as const;

const HEADING = 'No model summed this up; it is made of beginnings and counts.';

/** What a conversation was about, put together without a model: always the same for the same messages, and bounded. */
export function digestConversation(messages: readonly Message[], earlier: string | undefined, most: number): string {
  const users = messages.filter((message): message is UserMessage => message.role === 'user');
  const answers = messages.filter((message): message is AssistantMessage => message.role === 'assistant');
  const results = messages.filter((message): message is ToolMessage => message.role === 'tool');
  const room = Math.max(0, most - HEADING.length - 120);
  const part = (title: string, text: string, share: number): string =>
    text === '' ? '' : `${title}\n${shorten(text, Math.floor(room * share))}`;
  const [first, ...others] = users.map(userText);
  const parts = [
    HEADING,
    part('Before:', earlier ?? '', SHARES.earlier),
    part('The first request:', first ?? '', SHARES.first),
    part('Later requests:', newest(others, room * SHARES.prompts), SHARES.prompts),
    part('Calls:', calls(results, room * SHARES.calls), SHARES.calls),
    part(
      'The last answer:',
      answers.map(({ parts }) => answerText(parts)).findLast((text) => text !== '') ?? '',
      SHARES.last,
    ),
  ];
  return shorten(parts.filter((text) => text !== '').join('\n\n'), most);
}

function userText({ parts }: UserMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : fileName(part))).join('\n');
}

/** The beginnings of as many of the newest as fit, in their order. */
function newest(texts: readonly string[], room: number): string {
  const lines: string[] = [];
  let left = room;
  for (let index = texts.length - 1; index >= 0; index--) {
    const line = `- ${shorten((texts[index] as string).replace(/\s+/g, ' '), 200)}`;
    left -= line.length + 1;
    if (left < 0) return [`- [… ${index + 1} before …]`, ...lines].join('\n');
    lines.unshift(line);
  }
  return lines.join('\n');
}

/** How often each tool came to what, and the newest results. */
function calls(results: readonly ToolMessage[], room: number): string {
  const parts = results.flatMap((message) => message.parts);
  const counts = new Map<string, number>();
  for (const { name, status } of parts) counts.set(`${name} ${status}`, (counts.get(`${name} ${status}`) ?? 0) + 1);
  const told = shorten([...counts].map(([what, times]) => `${what} ${times}×`).join(', '), Math.floor(room / 2));
  const last = newest(parts.map(resultText), room - told.length);
  return [told, last].filter((text) => text !== '').join('\n');
}
