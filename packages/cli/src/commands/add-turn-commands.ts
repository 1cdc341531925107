import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from '../program.js';
import { collect, withApprovals, withModel, withOutput, withPlace, withRules } from './command-options.js';
import type { ResumeFlags } from './resume.js';
import type { RunFlags } from './run.js';

/** `run` and `resume`. */
export function addTurnCommands(program: Command, context: CliContext, finish: Finish): void {
  const run = program
    .command('run <prompt>')
    .description('give the agent a prompt and show its turn; "-" reads the prompt from standard input')
    .option('-s, --session <id>', 'go on with a session, or make it under this id')
    .option('--agent <name>', 'narrow the agent by a definition: explore, plan, general or one of the configuration')
    .option('--budget <limits>', 'what the session and all below it may use: tokens=N,usd=N,calls=N,seconds=N')
    .option('--attach <path>', 'a file that comes with the prompt; may be repeated', collect, [])
    .action(async (prompt: string, flags: RunFlags) => {
      const { runCommand } = await import('./run.js');
      finish(await runCommand(context, prompt, flags));
    });
  const resume = program
    .command('resume [session]')
    .description('go on with a turn that did not end (default: the newest one of this workspace)')
    .option('--take-over', 'take the session from a node that is alive')
    .option('--without-missing', 'go on although a model or tool of the last step is not there')
    .action(async (session: string | undefined, flags: ResumeFlags) => {
      const { resumeSession } = await import('./resume.js');
      finish(await resumeSession(context, session, flags));
    });
  for (const command of [run, resume]) withOutput(withApprovals(withRules(withModel(withPlace(command)))));
}
