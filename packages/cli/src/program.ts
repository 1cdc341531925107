import { Command } from 'commander';
import type { CliContext } from './cli-context.js';
import { addControlCommands } from './commands/add-control-commands.js';
import { addDoctorCommand, addPluginsCommands } from './commands/add-upkeep-commands.js';
import { addLineageCommands } from './commands/add-lineage-commands.js';
import { addMcpCommands } from './commands/add-mcp-commands.js';
import { addNodeCommands } from './commands/add-node-commands.js';
import { addRelayCommands } from './commands/add-relay-commands.js';
import { addSessionsCommands } from './commands/add-sessions-commands.js';
import { addTurnCommands } from './commands/add-turn-commands.js';
import { exitCodeHelp } from './exit-code.js';
import { ownVersion } from './new-plugin/index.js';

/** Takes the exit code of the command that ran. */
export type Finish = (exitCode: number) => void;

/** The command line of `perdure`. Commands are loaded when they are run. Throws a CommanderError for a wrong usage. */
export function createProgram(context: CliContext, finish: Finish): Command {
  const program = new Command('perdure')
    .description('Runs agent sessions that outlast the process that runs them.')
    .version(ownVersion())
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.screen.out.write(text),
      // With --json errors are JSON, and those of the usage come with all others.
      writeErr: (text) => void (context.json ? undefined : context.screen.error.write(text)),
      outputError: () => undefined,
    })
    .addHelpText('after', exitCodeHelp)
    .addHelpText('after', 'Plugins of the configuration may add commands of their own: perdure NAME …');
  addTurnCommands(program, context, finish);
  addControlCommands(program, context, finish);
  addLineageCommands(addSessionsCommands(program, context, finish), context, finish);
  addNodeCommands(program, context, finish);
  addRelayCommands(program, context, finish);
  addMcpCommands(program, context, finish);
  addPluginsCommands(program, context, finish);
  addDoctorCommand(program, context, finish);
  return program;
}
