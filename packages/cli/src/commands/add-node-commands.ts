import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from '../program.js';
import { withApprovals, withModel, withOutput, withPlace, withRules } from './command-options.js';
import type { NodeDrainFlags } from './node-drain.js';
import type { NodeFlags } from './node-list.js';
import type { NodeRunFlags } from './node-run.js';

/** `node …`: processes that look after the sessions of a store. */
export function addNodeCommands(program: Command, context: CliContext, finish: Finish): void {
  const node = program.command('node').description('processes that look after the sessions of a store');
  const run = node
    .command('run')
    .description('go on with sessions that have work and no owner, until SIGTERM or `perdure node drain`')
    .option('--name <name>', 'the name of the node (default: the machine and some random characters)')
    .option('--capacity <count>', 'take no further session while so many turns are under way here')
    .option('--grace <seconds>', 'how long steps under way may take when it is drained (default: 30)')
    .action(async (flags: NodeRunFlags) => {
      const { nodeRun } = await import('./node-run.js');
      finish(await nodeRun(context, flags));
    });
  withOutput(withApprovals(withRules(withModel(withPlace(run)))));
  const drain = node
    .command('drain <name>')
    .description('have a node give its sessions to others, and end')
    .option('--grace <seconds>', 'how long steps under way may take (default: 30)')
    .option('--reason <text>', 'stands in the streams of the sessions')
    .action(async (name: string, flags: NodeDrainFlags) => {
      const { nodeDrain } = await import('./node-drain.js');
      finish(await nodeDrain(context, name, flags));
    });
  withOutput(withPlace(drain));
  const list = node.command('list').description('the nodes of a store; it may take as long as a lease lives (10 s)');
  withOutput(withPlace(list)).action(async (flags: NodeFlags) => {
    const { nodeList } = await import('./node-list.js');
    finish(await nodeList(context, flags));
  });
}
