import type { StoredEvent } from '../streams/stored-event.js';

export interface EventFilter {
  readonly on: 'stream' | 'type';
  /** One of them fits, unless there is a `regex`. */
  readonly prefixes: readonly string[];
  readonly regex?: RegExp;
}

export function passes({ on, prefixes, regex }: EventFilter, event: StoredEvent): boolean {
  const name = on === 'stream' ? event.stream : event.type;
  return regex === undefined ? prefixes.some((prefix) => name.startsWith(prefix)) : regex.test(name);
}
