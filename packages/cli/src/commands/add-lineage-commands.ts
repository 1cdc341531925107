import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from '../program.js';
import { withOutput, withPlace } from './command-options.js';
import type { SessionsEraseFlags } from './sessions-erase.js';
import type { SessionsFlags } from './sessions-flags.js';
import type { SessionsForkFlags } from './sessions-fork.js';

/** `sessions …`: what comes out of a session, what it was, and its end. None of them looks at the agent. */
export function addLineageCommands(sessions: Command, context: CliContext, finish: Finish): void {
  const add = (command: Command): Command =>
    withOutput(withPlace(command)).option('--tenant <name>', 'the tenant whose session it is');

  add(sessions.command('fork <id>').description('a new session that goes on from this one'))
    .option('--at <revision>', 'from the last step boundary at or before this revision (default: the newest)')
    .option('--session <id>', 'the id of the new session')
    .action(async (id: string, flags: SessionsForkFlags) => {
      const { sessionsFork } = await import('./sessions-fork.js');
      finish(await sessionsFork(context, id, flags));
    });
  add(sessions.command('at <id> <revision>').description('the transcript as it was at a revision')).action(
    async (id: string, revision: string, flags: SessionsFlags) => {
      const { sessionsAt } = await import('./sessions-at.js');
      finish(await sessionsAt(context, id, revision, flags));
    },
  );
  add(sessions.command('tree <id>').description('the sessions that came out of one')).action(
    async (id: string, flags: SessionsFlags) => {
      const { sessionsTree } = await import('./sessions-tree.js');
      finish(await sessionsTree(context, id, flags));
    },
  );
  add(sessions.command('erase <id>').description('destroy what a session holds, and those that work for it'))
    .option('--cascade', 'and the sessions that were forked from it')
    .option('--reason <text>', 'kept in what is left')
    .action(async (id: string, flags: SessionsEraseFlags) => {
      const { sessionsErase } = await import('./sessions-erase.js');
      finish(await sessionsErase(context, id, flags));
    });
  add(sessions.command('remove <id>').description('the same, and no error when there is none')).action(
    async (id: string, flags: SessionsFlags) => {
      const { sessionsRemove } = await import('./sessions-erase.js');
      finish(await sessionsRemove(context, id, flags));
    },
  );
}
