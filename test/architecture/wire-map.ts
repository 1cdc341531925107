import type { EventDefinition } from '@perdure/events';
import { definitions } from './event-schemas.js';
import type { Pin } from './exported-names.js';

export const WIRE_MAP = 'packages/events/docs/wire-types.md';

/** The page that tells what each fact is on the wire, and of what facts a type of the wire comes. */
export function wireMapPin(): Pin {
  return { path: WIRE_MAP, text: wireMap() };
}

function wireMap(): string {
  const byWireType = new Map<string, string[]>();
  for (const { type, wire } of definitions) {
    for (const name of wire.types) byWireType.set(name, [...(byWireType.get(name) ?? []), type]);
  }
  return [
    '# Facts and wire types',
    '',
    'A fact has two names. **Kafka and exports** carry facts as they are stored, by their type and version:',
    '`ce_type` is `dev.perdure.<Type>.v<version>`, and the column `type` is `<Type>`. **SSE and `subscribe`**',
    'carry envelopes, by their wire type: `type` and the keys of `payload` are snake_case, and a growing',
    'answer comes in pieces that are no facts. This page is made from the catalogue by `npm run pins`.',
    '',
    '- One fact can be several wire events, or another one by what it says: all that it can be are listed.',
    '- On the wire `turn_start` and `turn_end` are about a *step*. A turn begins with `agent_start`, and ends',
    '  with `agent_end` or `error`.',
    '- The pieces of an answer (`text_delta`, `reasoning_delta`, `tool_start`, `tool_input_delta`) come while',
    '  it grows, and again from `ModelAnswered` to who reads what is stored. On Kafka there are no pieces.',
    '- A fact of a plugin, `<plugin>/<Type>`, has the wire types of its own definition; without the plugin it',
    '  is opaque.',
    '- Facts of a budget are in a stream of their own, and on Kafka. SSE and `subscribe` are of a session,',
    '  without them.',
    '- The same fact in both: `event_id` and `revision` of the `metadata` of an envelope are the columns of',
    '  these names.',
    '',
    '## By fact',
    '',
    '| fact | version | lane | wire types | schema |',
    '|---|---|---|---|---|',
    ...definitions.map(row),
    '',
    '## By wire type',
    '',
    '| wire type | facts |',
    '|---|---|',
    ...[...byWireType]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, types]) => `| \`${name}\` | ${listed(types)} |`),
    '',
  ].join('\n');
}

function row({ type, version, lane, wire }: EventDefinition): string {
  const file = `${type}.v${version}.json`;
  return `| \`${type}\` | ${version} | ${lane} | ${listed(wire.types) || '–'} | [${file}](../schemas/${file}) |`;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
