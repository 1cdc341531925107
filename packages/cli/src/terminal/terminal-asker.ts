import { createInterface } from 'node:readline/promises';
import type { JsonValue } from '@perdure/events';
import { ASKER, definePlugin, PLUGIN_API, type Asker, type PermissionPolicy, type Plugin } from '@perdure/plugin-api';
import { createPermissionPolicy } from '@perdure/runtime';
import { z } from 'zod';
import { callLabel } from './call-label.js';
import { jsonText } from './json-text.js';
import type { Screen } from './screen.js';
import { visible, visibleLine } from './visible.js';

/** Lines of arguments that a question shows. */
const MOST_LINES = 40;

/** Asks one question and returns the line that was typed; throws when the signal aborts. */
export type AskLine = (question: string, signal: AbortSignal) => Promise<string>;

/**
 * Asks the person at the terminal about calls that the rules leave open. "Always" is a rule for the rest of this run:
 * it is kept here, so that the policy of the session stays what it was and its record can be replayed.
 */
export class TerminalAsker implements Asker {
  private readonly rules: string[] = [];
  private always: PermissionPolicy | undefined;

  constructor(
    private readonly screen: Screen,
    private readonly askLine: AskLine,
  ) {}

  async ask(...[call, decision, signal]: Parameters<Asker['ask']>): Promise<'allow' | 'deny'> {
    // What the tool itself wants a person to agree to is asked each time anew.
    if (decision.isConfirmation !== true && this.always?.decide(call).decision === 'allow') return 'allow';
    const { screen } = this;
    const { style, error } = screen;
    await screen.endText();
    const width = Math.max(20, error.width);
    await screen.note(`${style.yellow('?')} ${style.bold(callLabel(call.tool, call.input, width - 4))}`);
    for (const line of detailsOf(call.input, width)) await screen.note(style.dim(line));
    if (decision.reason !== undefined) await screen.note(style.dim(`  ${visibleLine(decision.reason, width - 2)}`));
    const { suggestion } = decision;
    const choices =
      suggestion === undefined ? 'y = yes, n = no' : `y = yes, n = no, a = always: ${visible(suggestion)}`;
    for (;;) {
      // What comes while the question stands begins on a line of its own.
      error.isAtLineStart = false;
      const answer = (await this.askLine(`  Allow it? (${choices}) `, signal)).trim().toLowerCase();
      error.isAtLineStart = true;
      if (answer === 'y' || answer === 'yes') return 'allow';
      if (answer === 'n' || answer === 'no') return 'deny';
      if (suggestion !== undefined && (answer === 'a' || answer === 'always')) {
        this.rules.push(suggestion);
        this.always = createPermissionPolicy({ allow: this.rules });
        return 'allow';
      }
    }
  }
}

/** The arguments as far as the label does not show them, so that nothing short is allowed unseen. */
function detailsOf(input: JsonValue, width: number): readonly string[] {
  const text = visible(jsonText(input, 2));
  const isInLabel = typeof input === 'object' && input !== null && Object.keys(input).length < 2 && text.length < width;
  if (isInLabel) return [];
  const lines = text.split('\n').filter((line) => line !== '{' && line !== '}');
  const wrapped = lines.flatMap((line) => line.match(new RegExp(`.{1,${width - 2}}`, 'gu')) ?? []);
  const more = wrapped.length - MOST_LINES;
  const shown = wrapped.slice(0, MOST_LINES).map((line) => `  ${line}`);
  return more > 0 ? [...shown, `  … and ${more} more lines`] : shown;
}

/** The asker of a run as a plugin. */
export function askerPlugin(asker: Asker): Plugin {
  return definePlugin({
    name: 'cli-asker',
    api: PLUGIN_API,
    version: '0.1.0',
    config: z.unknown(),
    provides: [ASKER],
    setup: ({ provide }) => {
      provide(ASKER, asker);
      return {};
    },
  });
}

/** Asks on the process's own terminal. `onInterrupt` hears of a Ctrl-C that is typed instead of an answer. */
export function terminalLine({ input, error }: Screen['streams'], onInterrupt: () => void): AskLine {
  return async (question, signal) => {
    const lines = createInterface({ input, output: error, terminal: true });
    lines.on('SIGINT', onInterrupt);
    // The end of the input (Ctrl-D) is no answer, and what nobody allows is denied.
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('no')));
    try {
      return await Promise.race([lines.question(question, { signal }), ended]);
    } finally {
      lines.close();
    }
  };
}
