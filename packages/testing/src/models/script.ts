import { jsonValue, usage } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import { z } from 'zod';
import type { ScriptRequest } from './script-request.js';

const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative();

/**
 * A call that an answer asks for. `inputText` replaces `input` by a text of arguments that need not be JSON. The call's
 * id is `call_<index>` when `providerCallId` is absent: the same in every answer, as many providers give them.
 */
const scriptedCall = z.strictObject({
  name: z.string().min(1),
  input: jsonValue.exactOptional(),
  inputText: z.string().exactOptional(),
  providerCallId: z.string().exactOptional(),
});
export type ScriptedCall = z.output<typeof scriptedCall>;

/**
 * A failure of the provider. Without a `status` the connection fails before anything is answered. `message`, `type` and
 * `code` go into an error body of the OpenAI form; `body` replaces it whole. `retryAfter` becomes the header of that
 * name, in seconds or as the date that lies so many seconds ahead.
 */
const scriptedError = z.strictObject({
  status: z.int().min(400).max(599).exactOptional(),
  message: z.string().exactOptional(),
  type: z.string().exactOptional(),
  code: z.string().exactOptional(),
  body: jsonValue.exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  retryAfter: z
    .strictObject({ seconds: z.int().nonnegative(), as: z.enum(['seconds', 'date']).exactOptional() })
    .exactOptional(),
});
export type ScriptedError = z.output<typeof scriptedError>;

/** The members that each put one fault into an answer, after so many deltas of it. */
const faultMembers = ['cutAfter', 'stallAfter', 'malformedAfter', 'endAfter', 'errorAfter'] as const;

/**
 * One answer of a model, as data. Its deltas are those of the reasoning, then of the text, then of the arguments of
 * each call; the faults count them. Times are in milliseconds.
 *
 * - `deltas`: the pieces of the text, or in how many pieces reasoning, text and arguments come each; 2 when absent.
 * - `usage`: 10 input and 5 output tokens when absent; `null` for a provider that reports none.
 * - `finish`: `tool-calls` for an answer with calls, else `stop`, when absent.
 * - `delayMs`: the wait before the answer begins; `deltaDelayMs`: before each further delta.
 * - `error`: the call fails with it, at once, or when `errorAfter` is there in the middle of the stream.
 * - `cutAfter`: the connection breaks; `stallAfter`: nothing more comes and nothing ends. With 0 no answer begins.
 * - `malformedAfter`: a piece that is no JSON comes, and the rest follows.
 * - `endAfter`: the answer ends in good order without a reason why.
 */
const scriptedAnswer = z
  .strictObject({
    text: z.string().exactOptional(),
    reasoning: z.string().exactOptional(),
    calls: z.array(scriptedCall).readonly().exactOptional(),
    usage: usage.partial().nullable().exactOptional(),
    finish: z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']).exactOptional(),
    deltas: z.union([z.int().positive(), z.array(z.string()).readonly()]).exactOptional(),
    delayMs: milliseconds.exactOptional(),
    deltaDelayMs: milliseconds.exactOptional(),
    error: scriptedError.exactOptional(),
    cutAfter: count.exactOptional(),
    stallAfter: count.exactOptional(),
    malformedAfter: count.exactOptional(),
    endAfter: count.exactOptional(),
    errorAfter: count.exactOptional(),
  })
  .superRefine((answer, context) => {
    const faults: string[] = faultMembers.filter((member) => answer[member] !== undefined);
    if (answer.error !== undefined && answer.errorAfter === undefined) faults.push('error');
    if (faults.length > 1) context.addIssue(`one answer has room for one fault, not for ${faults.join(' and ')}`);
    if (answer.errorAfter !== undefined && answer.error === undefined) {
      context.addIssue({ code: 'custom', path: ['errorAfter'], message: 'needs an error' });
    }
    if (typeof answer.deltas === 'object' && (answer.text ?? answer.deltas.join('')) !== answer.deltas.join('')) {
      context.addIssue({ code: 'custom', path: ['deltas'], message: 'do not add up to the text' });
    }
    answer.calls?.forEach((call, index) => {
      if (call.input === undefined || call.inputText === undefined) return;
      context.addIssue({
        code: 'custom',
        path: ['calls', index, 'inputText'],
        message: 'stands in the place of input',
      });
    });
  });
export type ScriptedAnswer = z.output<typeof scriptedAnswer>;

/**
 * An answer and the requests that it is for: `userTextContains` looks into the last user message, `toolResults` is the
 * exact number of tool results behind it, and `messageCharactersOver` is for requests whose messages are longer than so
 * many characters of JSON: a provider with a small window. A rule without `when` fits every request; one with `times`
 * so many.
 */
const scriptRule = z.strictObject({
  when: z
    .strictObject({
      userTextContains: z.string().exactOptional(),
      toolResults: count.exactOptional(),
      modelId: z.string().exactOptional(),
      messageCharactersOver: count.exactOptional(),
    })
    .exactOptional(),
  times: z.int().positive().exactOptional(),
  answer: scriptedAnswer,
});
export type ScriptRule = z.output<typeof scriptRule>;

const scriptRules = z.strictObject({ rules: z.array(scriptRule).readonly() });
export type ScriptRules = z.output<typeof scriptRules>;

/**
 * A script that survives JSON: answers in the order of the requests, or rules, of which the first that fits answers.
 */
export type ScriptData = readonly ScriptedAnswer[] | ScriptRules;

/** Answers by what the request says; it may wait, and so hold a model back. */
export type ScriptFunction = (request: ScriptRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

export type Script = ScriptData | ScriptFunction;

/**
 * A script for one turn: the first round answers the prompt, the second the results of the first round's calls, and so
 * on. The round is found by the number of tool results behind the last user message, so a process that resumes the turn
 * goes on at the right place, and every prompt begins again.
 */
export function scriptByRound(rounds: readonly ScriptedAnswer[]): ScriptRules {
  let toolResults = 0;
  const rules = rounds.map((answer, round): ScriptRule => {
    const rule = { when: { toolResults }, answer };
    const calls = answer.calls?.length ?? 0;
    if (calls === 0 && round < rounds.length - 1) {
      const reason = 'an answer without calls ends the turn, so the next round is never reached';
      throw new PerdureError('PERDURE_CONFIGURATION', { field: `rounds.${round}.calls`, reason });
    }
    toolResults += calls;
    return rule;
  });
  return { rules };
}

/** The script, checked. Throws PERDURE_CONFIGURATION that names the member. */
export function checkScript(script: unknown): Script {
  if (typeof script === 'function') return script as ScriptFunction;
  return Array.isArray(script)
    ? check(z.array(scriptedAnswer).readonly(), script, 'script')
    : check(scriptRules, script, 'script');
}

/** The answer, checked. Throws PERDURE_CONFIGURATION that names the member. */
export function checkAnswer(answer: unknown): ScriptedAnswer {
  return check(scriptedAnswer, answer, 'answer');
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, field: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new PerdureError('PERDURE_CONFIGURATION', {
    field: [field, ...(issue?.path ?? []).map(String)].join('.'),
    reason: issue?.message ?? 'not a script',
  });
}
