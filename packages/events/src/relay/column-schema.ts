import { z } from 'zod';

const text = (meaning?: string) => described(z.string().nullable(), meaning);
const whole = (meaning?: string) => described(z.int().nullable(), meaning);

function described<Schema extends z.ZodType>(schema: Schema, meaning: string | undefined): Schema {
  return meaning === undefined ? schema : schema.describe(meaning);
}

/**
 * The flat columns of a fact for analytics, each with one meaning in all types. `null` where a fact has none. Names and
 * meanings are never changed. A column that is added must be optional: messages from before do not have it.
 */
export const relayColumnSchemas = {
  event_id: z.string(),
  stream: z.string().describe('Its facts are in order, and counted by `revision`.'),
  session_id: text('The session that the fact is about.'),
  tenant: text("The isolating tenant of the stream's key."),
  type: z.string().describe("Of a plugin's fact `<plugin>/<Type>`. Pass by those that you do not know."),
  schema_version: whole(),
  revision: z.int().nonnegative().describe('The place in the stream, from 0.'),
  position: z.string().describe('The place in the store; sorts as text.'),
  occurred_at: z
    .string()
    .nullable()
    .meta({ description: 'UTC, with milliseconds: `2026-01-31T12:00:00.000Z`.', format: 'date-time' }),
  epoch: whole('Of the ownership of the session.'),
  lane: text('Who may write the fact: `first`, `take-over`, `owner` or `input`.'),
  actor_kind: text('Who did this: `model`, `user`, `host` or `node`.'),
  actor_id: text(),
  principal: text(),
  agent_template_id: text(),
  correlation_id: text(),
  causation_id: text(),
  turn_id: text(),
  run_id: text(),
  step_id: text(),
  call_id: text('The call of a tool.'),
  tool_name: text('Only where a call is decided: other facts of it have the same `call_id`.'),
  model: text('The name that the host gave the model. Only of model calls, as the next two.'),
  provider: text('Who provides the model.'),
  model_id: text('Its id there.'),
  purpose: text('What a model call was for.'),
  status: text('How what the fact ends has ended, in the words of its type.'),
  error_code: text(),
  tokens_in: whole('Of one model call. Sums over them count each token once.'),
  tokens_out: whole('Of one model call. Sums over them count each token once.'),
  cost_micros: whole(
    'Millionths of the currency of the prices, of one settled part of a budget. Sums count each once.',
  ),
  duration_ms: whole('From the start to the end of a model call or a tool.'),
  first_token_ms: whole('From the start of a model call to the first piece of its answer.'),
  dead_letter: text('`<topic>/<partition>/<offset>` of what the fact says, when it was too large for its place.'),
};

const relayColumns = z.object(relayColumnSchemas);
/** The flat columns of a fact, as `relayColumnSchemas` describes them. */
export type RelayColumns = Readonly<z.output<typeof relayColumns>>;
