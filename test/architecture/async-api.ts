import type { EventDefinition, JsonValue } from '@perdure/events';
import { definitions } from './event-schemas.js';
import type { Pin } from './exported-names.js';
import { projects } from './workspace.js';

export const ASYNC_API = 'packages/events/asyncapi.json';

type Members = Readonly<Record<string, JsonValue>>;

const schema = (name: string): Members => ({ $ref: `./schemas/${name}.json` });
const reference = (name: string): Members => ({ $ref: `#/components/messages/${name}` });
const nameOf = ({ type, version }: EventDefinition): string => `${type}.v${version}`;
const KEY: Members = {
  type: 'string',
  description: '`<tenant>.<session id>`, with `_` for no tenant. Decides the partition (murmur2).',
};
const PLUGIN_FACT = 'PluginFact';
const SESSION_ROW = 'SessionRow';
const DEAD_LETTER = 'DeadLetter';

/** The topics of the relay as an AsyncAPI document: one message for each type of the catalogue. */
export function asyncApiPin(): Pin {
  return { path: ASYNC_API, text: `${JSON.stringify(asyncApi(), null, 2)}\n` };
}

function asyncApi(): Members {
  const version = projects.find(({ manifest }) => manifest.name === '@perdure/events')?.manifest.version ?? '';
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Perdure on Kafka',
      version,
      description:
        'Every fact of every session, in order, as @perdure/relay-kafka sends it: CloudEvents in binary mode. ' +
        'Readers pass by the headers, members, types and words of lists that they do not know. ' +
        'The same fact may come again: it has the same ce_stream and ce_revision.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: channels(),
    operations: Object.fromEntries(
      ['sessionEvents', 'sessionState', 'deadLetters'].map((channel) => [
        `send${channel.charAt(0).toUpperCase()}${channel.slice(1)}`,
        { action: 'send', channel: { $ref: `#/channels/${channel}` } },
      ]),
    ),
    components: { messages: messages() },
  };
}

function channels(): Members {
  const facts = [...definitions.map(nameOf), PLUGIN_FACT];
  return {
    sessionEvents: channel('session-events', facts, {
      title: 'Facts',
      description: 'The facts of each stream in its order, and one partition for each session. Never compacted.',
      policy: 'delete',
    }),
    sessionState: channel('session-state', [SESSION_ROW], {
      title: 'What sessions have come to',
      description: 'The last row of each session. A message without a value is of a session that was erased.',
      policy: 'compact',
    }),
    deadLetters: channel('dead-letters', [DEAD_LETTER], {
      title: 'Facts that were too large',
      description:
        'Each has a stub in its place among the facts, which tells topic, partition and offset of the letter.',
      policy: 'delete',
    }),
  };
}

function channel(
  name: string,
  messages: readonly string[],
  { title, description, policy }: { readonly title: string; readonly description: string; readonly policy: string },
): Members {
  return {
    address: `{prefix}.${name}.v1`,
    title,
    description,
    parameters: { prefix: { description: 'The option `topics.prefix` of the relay.', default: 'perdure' } },
    messages: Object.fromEntries(messages.map((message) => [message, reference(message)])),
    bindings: { kafka: { topicConfiguration: { 'cleanup.policy': [policy] }, bindingVersion: '0.5.0' } },
  };
}

function messages(): Members {
  const facts = definitions.map((definition) => [nameOf(definition), factMessage(definition)] as const);
  const plugin = message(PLUGIN_FACT, "A plugin's fact, `<plugin>/<Type>`.", 'fact-headers.v1', {
    allOf: [schema('relay/fact-message.v1'), { properties: { type: { type: 'string', pattern: '^[^/]+/' } } }],
  });
  return {
    ...Object.fromEntries(facts),
    [PLUGIN_FACT]: plugin,
    [SESSION_ROW]: message(
      SESSION_ROW,
      'What a session has come to.',
      'session-row-headers.v1',
      schema('relay/session-row.v1'),
    ),
    [DEAD_LETTER]: message(
      DEAD_LETTER,
      'The message as it would have been; `fact` is null when it was too large for this topic, too.',
      'dead-letter-headers.v1',
      schema('relay/fact-message.v1'),
    ),
  };
}

function factMessage(definition: EventDefinition): Members {
  const { type, version } = definition;
  const ofType = { properties: { ce_type: { type: 'string', const: `dev.perdure.${type}.v${version}` } } };
  const payload = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: schema(nameOf(definition)),
  };
  const fact = { properties: { type: { const: type }, payload } };
  return {
    ...message(nameOf(definition), `Lane ${definition.lane}.`, 'fact-headers.v1', {
      allOf: [schema('relay/fact-message.v1'), { properties: { type: { const: type }, fact } }],
    }),
    headers: { allOf: [schema('relay/fact-headers.v1'), ofType] },
  };
}

function message(name: string, summary: string, headers: string, payload: Members): Members {
  return {
    name,
    title: name,
    summary,
    contentType: 'application/json',
    headers: schema(`relay/${headers}`),
    payload,
    bindings: { kafka: { key: KEY, bindingVersion: '0.5.0' } },
  };
}
