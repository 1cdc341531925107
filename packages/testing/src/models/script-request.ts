import type { JsonValue } from '@perdure/events';

/** What a script decides by. All of it is read from the request alone: equal requests are equal here. */
export interface ScriptRequest {
  /** The text of the last user message; empty when there is none. */
  readonly lastUserText: string;
  /** The results of tools behind the last user message, in order. */
  readonly toolResultsSince: readonly ScriptToolResult[];
  /** All messages, in the form in which they came: that of the AI SDK, or that of the chat protocol. */
  readonly messages: readonly ScriptMessage[];
  /** The names of the tools that the model is offered. */
  readonly tools: readonly string[];
  readonly modelId: string;
}

export interface ScriptToolResult {
  readonly providerCallId: string;
  /** The tool's name; `undefined` when no call of that id stands before the result. */
  readonly tool: string | undefined;
  /** The output as the provider is given it: a text, where the protocol knows nothing else. */
  readonly output: JsonValue;
}

export interface ScriptMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** The messages behind the last user message. Their number, not that of all messages, is what this costs. */
export function messagesSinceUser<Message extends ScriptMessage>(messages: readonly Message[]): readonly Message[] {
  let from = messages.length;
  while (from > 0 && messages[from - 1]?.role !== 'user') from--;
  return messages.slice(from);
}

/** The text of the last user message, whose content is a text or a list of parts. */
export function lastUserText(messages: readonly ScriptMessage[]): string {
  const content = messages.findLast((message) => message.role === 'user')?.content;
  return typeof content === 'string' ? content : contentParts(content).map(partText).join('');
}

/** A content as a list of its parts; a content that is no list has none. */
export function contentParts(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content.filter((part) => typeof part === 'object' && part !== null) : [];
}

function partText(part: Readonly<Record<string, unknown>>): string {
  return part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : '';
}
