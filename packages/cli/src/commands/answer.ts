import type { Answers, Question } from '@perdure/events';
import type { QuestionInteraction } from '@perdure/plugin-api';
import { userInfo } from 'node:os';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { describeInteraction } from '../terminal/describe-interaction.js';
import { onSession, type AnswerFlags } from './interactions.js';

export interface AnswersFlags extends AnswerFlags {
  /** Each `<question>=<answer>`. */
  readonly answer: readonly string[];
  /** Nobody wants to answer: whoever asked is told so. */
  readonly decline?: boolean;
}

/** `perdure answer`: the answers to one set of questions, or to the only one; or that there are none. */
export function answerQuestions(
  context: CliContext,
  id: string,
  interaction: string | undefined,
  flags: AnswersFlags,
): Promise<number> {
  return onSession(context, id, flags, async (session) => {
    const { screen, json } = context;
    const pending = await session.interactions();
    const sets = pending.filter((each): each is QuestionInteraction => each.kind === 'question');
    const [only] = sets;
    if (interaction === undefined && sets.length !== 1) {
      await screen.note(only === undefined ? 'no question waits' : 'several calls ask something; name one of them:');
      for (const each of sets) await screen.note(describeInteraction(each));
      return exitCodes.usage;
    }
    const chosen = interaction ?? only?.id ?? '';
    const set = sets.find((each) => each.id === chosen);
    const given = readResponse(flags, set?.questions ?? []);
    if (typeof given === 'string') {
      await screen.note(given);
      return exitCodes.usage;
    }
    // What was shown is what is answered.
    const shown = set === undefined ? {} : { argumentDigest: set.argumentDigest };
    await session.respond({ id: chosen, ...given, by: flags.by ?? userInfo().username, ...shown });
    const left = pending.length - 1;
    if (json) await screen.out.line(jsonText({ id: chosen, ...given, left }));
    else await screen.note(`${'decline' in given ? 'declined' : 'answered'} ${chosen}; ${left} left`);
    return exitCodes.completed;
  });
}

/** What a command line says to questions; a text that says what is wrong with it. */
export function readResponse(
  { answer, decline = false }: Pick<AnswersFlags, 'answer' | 'decline'>,
  questions: readonly Question[],
): { readonly answers: Answers } | { readonly decline: true } | string {
  if (decline) return answer.length === 0 ? { decline } : 'give either --answer or --decline';
  const answers = readAnswers(answer, questions);
  return typeof answers === 'string' ? answers : { answers };
}

/**
 * Answers as they stand on a command line; a text that says what is wrong with them. A multi-select takes several, each
 * on its own or with commas between, unless an option has the whole text as its value.
 */
export function readAnswers(given: readonly string[], questions: readonly Question[]): Answers | string {
  const answers = new Map<string, string | string[]>();
  for (const each of given) {
    const at = each.indexOf('=');
    if (at < 1) return `--answer takes <question>=<answer>, not "${each}"`;
    const id = each.slice(0, at);
    const value = each.slice(at + 1);
    const asked = questions.find((question) => question.id === id);
    const before = answers.get(id);
    if (asked?.kind === 'multi-select') {
      answers.set(id, [...(Array.isArray(before) ? before : []), ...split(value, asked)]);
    } else if (before !== undefined) return `the question "${id}" has one answer`;
    else answers.set(id, value);
  }
  return Object.fromEntries(answers);
}

function split(value: string, { options }: Extract<Question, { kind: 'multi-select' }>): string[] {
  if (value === '') return [];
  return options.some((option) => option.value === value) ? [value] : value.split(',').map((each) => each.trim());
}
