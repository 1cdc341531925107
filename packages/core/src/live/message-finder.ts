import type { Message } from '@perdure/plugin-api';
import type { SessionState } from '../session/session-state.js';

/** Messages from the newest back that are looked through one by one; what is asked for is mostly among them. */
const NEAR = 32;

/** Finds messages by their ids and by the calls in them, for one reader of a session. */
export class MessageFinder {
  /** Places of messages and of calls, once something was asked for that is far back. */
  private readonly places = new Map<string, number>();
  private indexed = 0;

  constructor(private readonly state: () => SessionState) {}

  message(id: string): Message | undefined {
    return this.find(`message ${id}`, (message) => message.id === id);
  }

  /** The message with the result of a call. */
  results(callId: string): Message | undefined {
    const isHere = (message: Message): boolean =>
      message.role === 'tool' && message.parts.some((part) => part.callId === callId);
    return this.find(`result ${callId}`, isHere);
  }

  /** The part of an answer that asks for a call. */
  call(callId: string): { readonly messageId: string; readonly part: number; readonly name: string } | undefined {
    const placeIn = (message: Message): number =>
      message.role === 'assistant'
        ? message.parts.findIndex((part) => part.type === 'tool-call' && part.callId === callId)
        : -1;
    const message = this.find(`call ${callId}`, (each) => placeIn(each) >= 0);
    const index = message === undefined ? -1 : placeIn(message);
    const part = message?.role === 'assistant' ? message.parts[index] : undefined;
    return message !== undefined && part?.type === 'tool-call'
      ? { messageId: message.id, part: index, name: part.name }
      : undefined;
  }

  private find(key: string, isIt: (message: Message) => boolean): Message | undefined {
    const { messages } = this.state();
    const near = Math.max(0, messages.length - NEAR);
    for (let index = messages.length - 1; index >= near; index--) {
      const message = messages.at(index);
      if (message !== undefined && isIt(message)) return message;
    }
    for (; this.indexed < near; this.indexed++) this.index(messages.at(this.indexed), this.indexed);
    const place = this.places.get(key);
    return place === undefined ? undefined : messages.at(place);
  }

  private index(message: Message | undefined, place: number): void {
    if (message === undefined) return;
    this.places.set(`message ${message.id}`, place);
    if (message.role === 'tool') for (const { callId } of message.parts) this.places.set(`result ${callId}`, place);
    if (message.role !== 'assistant') return;
    for (const part of message.parts) if (part.type === 'tool-call') this.places.set(`call ${part.callId}`, place);
  }
}
