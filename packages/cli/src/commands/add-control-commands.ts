import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from '../program.js';
import { collect, withOutput, withPlace } from './command-options.js';
import type { AnswersFlags } from './answer.js';
import type { BudgetFlags } from './budget.js';
import type { AnswerFlags } from './interactions.js';
import type { SessionsFlags } from './sessions-flags.js';

/** Commands that need the store alone, and work whoever runs the session. */
export function addControlCommands(program: Command, context: CliContext, finish: Finish): void {
  const add = (command: Command): Command =>
    withOutput(withPlace(command)).option('--tenant <name>', 'the tenant whose session it is');
  add(program.command('interactions <session>').description('what waits for a person')).action(
    async (session: string, flags: SessionsFlags) => {
      const { showInteractions } = await import('./interactions.js');
      finish(await showInteractions(context, session, flags));
    },
  );
  add(program.command('budget <session>').description('what the tree of a session may use and has used'))
    .option('--set <limits>', 'set limits: tokens=N,usd=N,calls=N,seconds=N; "none" takes one away')
    .action(async (session: string, flags: BudgetFlags) => {
      const { budgetCommand } = await import('./budget.js');
      finish(await budgetCommand(context, session, flags));
    });
  for (const [name, decision] of [
    ['approve', 'allow'],
    ['deny', 'deny'],
  ] as const) {
    add(program.command(`${name} <session> [interaction]`).description(`${name} a call that waits for a person`))
      .option('--reason <text>', 'why; the model is told with a denial')
      .option('--by <name>', 'who answers (default: the user of this machine)')
      .action(async (session: string, interaction: string | undefined, flags: AnswerFlags) => {
        const { answerInteraction } = await import('./interactions.js');
        finish(await answerInteraction(context, decision, session, interaction, flags));
      });
  }
  add(program.command('runs <session>').description('the attempts at its turns, with their ids')).action(
    async (session: string, flags: SessionsFlags) => {
      const { showRuns } = await import('./runs.js');
      finish(await showRuns(context, session, flags));
    },
  );
  add(program.command('answer <session> [interaction]').description('answer questions that wait for a person'))
    .option(
      '--answer <question=answer>',
      'the answer to one question; repeated for others, and for more than one choice',
      collect,
      [],
    )
    .option('--decline', 'answer none of them; whoever asked is told so')
    .option('--by <name>', 'who answers (default: the user of this machine)')
    .action(async (session: string, interaction: string | undefined, flags: AnswersFlags) => {
      const { answerQuestions } = await import('./answer.js');
      finish(await answerQuestions(context, session, interaction, flags));
    });
  add(program.command('stop <session>').description('end the turn that runs, wherever it runs'))
    .option('--reason <text>', 'why')
    .action(async (session: string, flags: AnswerFlags) => {
      const { stopSession } = await import('./interactions.js');
      finish(await stopSession(context, session, flags));
    });
}
