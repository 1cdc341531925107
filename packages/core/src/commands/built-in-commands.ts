import { answerText, promptText, type Change, type Failure } from '@perdure/events';
import type { ChangeHandle, CommandContext, CommandInfo, Message } from '@perdure/plugin-api';
import type { SessionState } from '../session/session-state.js';

/** What came of a command. */
export type CommandOutcome = { readonly output: string } | { readonly failure: Failure };

/** What our own commands may do and see beside what every command does. */
export interface BuiltInContext extends CommandContext {
  readonly state: SessionState;
  readonly models: readonly string[];
  readonly commands: readonly CommandInfo[];
  /** Asks for a change as any caller does and waits for its end. */
  change(change: Change): Promise<Awaited<ChangeHandle['finished']>>;
}

export interface BuiltInCommand {
  readonly name: string;
  readonly description: string;
  run(input: string, context: BuiltInContext): CommandOutcome | Promise<CommandOutcome>;
}

/** Messages that `/history` shows when it is not told how many, and how much of each. */
const SHOWN = 10;
const LINE = 120;

export const builtInCommands: readonly BuiltInCommand[] = [
  {
    name: 'help',
    description: 'Lists the commands.',
    run: (_, { commands }) => ({ output: table(commands.map(({ name, description }) => [`/${name}`, description])) }),
  },
  {
    name: 'compact',
    description: 'Has the older part of the conversation summed up.',
    run: async (_, { change, state }) =>
      state.context.length === 0
        ? { output: 'There is nothing to sum up.' }
        : outcomeOf(await change({ kind: 'compact' }), 'The older part of the conversation is summed up.'),
  },
  {
    name: 'cost',
    description: 'Shows the tokens that were used, and what they cost.',
    run: (_, { state, totalCost }) => ({
      output: table([
        ['tokens in', String(state.usage.inputTokens)],
        ['tokens out', String(state.usage.outputTokens)],
        ['tokens', String(state.usage.totalTokens)],
        ['cost', totalCost === null ? 'not known: a model has no price' : totalCost.toFixed(6)],
      ]),
    }),
  },
  {
    name: 'model',
    description: 'Shows the model, or changes to the one that is named.',
    run: async (input, { change, model, models }) => {
      if (input !== '') return outcomeOf(await change({ kind: 'model', model: input }), `The model is "${input}".`);
      const others = models.filter((name) => name !== model);
      const more = others.length === 0 ? '' : ` There are also: ${others.join(', ')}.`;
      return { output: `${model === null ? 'There is no model.' : `The model is "${model}".`}${more}` };
    },
  },
  {
    name: 'clear',
    description: 'Begins the conversation anew for models; the session keeps everything.',
    run: async (_, { change, historyLen }) =>
      outcomeOf(await change({ kind: 'clear' }), `Models no longer see the ${historyLen} messages until here.`),
  },
  {
    name: 'history',
    description: `Shows the newest messages; ${SHOWN} of them, or as many as are asked for.`,
    run: (input, { state }) => {
      const count = input === '' ? SHOWN : Number(input);
      if (!Number.isSafeInteger(count) || count < 1) return { output: 'Say how many messages: /history 20' };
      const { messages } = state;
      const shown = messages.slice(messages.length - count);
      if (shown.length === 0) return { output: 'There are no messages.' };
      const lines = shown.map((message) => [String(message.sequence), message.role, firstLine(textOf(message))]);
      return { output: table(lines) };
    },
  },
  {
    name: 'tools',
    description: 'Lists the tools.',
    run: (_, { toolNames }) => ({ output: toolNames.length === 0 ? 'There are no tools.' : toolNames.join('\n') }),
  },
];

function outcomeOf({ success, error }: Awaited<ChangeHandle['finished']>, output: string): CommandOutcome {
  return success || error === undefined ? { output } : { failure: error };
}

function textOf(message: Message): string {
  switch (message.role) {
    case 'user':
      return promptText(message.parts);
    case 'assistant': {
      const calls = message.parts.flatMap((part) => (part.type === 'tool-call' ? [`(calls ${part.name})`] : []));
      return [answerText(message.parts), ...calls].filter((text) => text !== '').join(' ');
    }
    case 'tool':
      return message.parts.map(({ name, status }) => `${name}: ${status}`).join(', ');
  }
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length > LINE ? `${line.slice(0, LINE)}…` : line;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  const cell = (text: string, column: number): string => text.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}
