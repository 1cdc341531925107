import type { JsonValue } from './json.js';
import type { Usage } from './parts.js';

/** One event as it leaves the runtime: `type` and the keys of `payload` are snake_case. */
export interface WireEvent {
  readonly type: string;
  readonly payload: Readonly<Record<string, JsonValue>>;
}

/** What a wire event may need and its fact only refers to. A reader without the session answers `undefined`. */
export interface WireLookup {
  promptText(turnId: string): string | undefined;
  call(callId: string): { readonly name: string; readonly input: JsonValue | undefined } | undefined;
  answerText(turnId: string): string | undefined;
}

/** How a fact goes on the wire. `types` names every wire type that `project` can give. */
export interface WireRule<Payload> {
  readonly types: readonly string[];
  project(payload: Payload, lookup: WireLookup): readonly WireEvent[];
}

/** A fact that is always one wire event. Members of the payload that are `undefined` are left out. */
export interface SingleWireRule<Payload> {
  readonly type: string;
  payload(payload: Payload, lookup: WireLookup): Record<string, JsonValue | undefined>;
}

/** Both ways to write a rule, as one. */
export function wireRule<Payload>(rule: WireRule<Payload> | SingleWireRule<Payload>): WireRule<Payload> {
  if ('types' in rule) return rule;
  return {
    types: [rule.type],
    project: (fact, lookup) => [{ type: rule.type, payload: present(rule.payload(fact, lookup)) }],
  };
}

/** Optional members are left out, never sent as `undefined`. */
export function present(payload: Record<string, JsonValue | undefined>): Record<string, JsonValue> {
  const result: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(payload)) if (value !== undefined) result[key] = value;
  return result;
}

export function usageOnWire(usage: Usage): Record<string, JsonValue> {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    reasoning_tokens: usage.reasoningTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  };
}
