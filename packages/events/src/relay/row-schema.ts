import { z } from 'zod';

const text = z.string().nullable();
const time = z.string().meta({ format: 'date-time' }).nullable();
const count = z.int().nonnegative();
const openTurn = z.object({ turn_id: z.string(), prompt_id: z.string() });

/**
 * What a session has come to: the value of its message on the compacted topic. Flat but for the two lists of what is
 * open; all counts are since the session's beginning.
 */
export const sessionRow = z.object({
  session_id: text,
  tenant: text,
  agent_id: text,
  agent_template_id: text,
  principal: text,
  correlation_id: text,
  parent_session_id: text,
  forked_from_session_id: text,
  title: text,
  status: z
    .enum(['idle', 'running', 'waiting', 'archived', 'erasing'])
    .describe('`waiting`: for people. `erasing`: everything that it holds will be destroyed, and then this message.'),
  created_at: time,
  updated_at: time,
  revision: count.describe('The last fact that is in this row.'),
  position: z.string(),
  turns: count,
  last_run_status: text,
  model_calls: count,
  model_failures: count,
  tool_calls: count,
  tool_failures: count,
  tokens_in: z.int(),
  tokens_out: z.int(),
  open_turns: z.array(openTurn),
  open_questions: z.array(z.string()).describe('Calls that wait for an answer of people.'),
  is_archived: z.boolean(),
  is_erasing: z.boolean(),
});
export type SessionRow = Readonly<z.output<typeof sessionRow>>;
