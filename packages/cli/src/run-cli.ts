import { CommanderError } from 'commander';
import type { CliContext } from './cli-context.js';
import { exitCodeOf, exitCodes } from './exit-code.js';
import { createProgram } from './program.js';
import { reportError } from './terminal/report-error.js';
import { Screen, type ProcessStreams } from './terminal/screen.js';
import { ScreenLogger } from './terminal/screen-logger.js';

/** Runs one command line. Never throws: resolves to the exit code when all output is handed on. */
export async function runCli(
  args: readonly string[],
  streams: ProcessStreams,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const options = optionsOf(args);
  const json = options.includes('--json');
  const debug = environment['PERDURE_DEBUG'] === '1';
  const screen = new Screen(streams, { environment, color: !options.includes('--no-color') });
  const context: CliContext = { screen, environment, json, logger: new ScreenLogger(screen, { json, debug }) };
  let exitCode: number;
  try {
    exitCode = await dispatch(args, context);
  } catch (error) {
    exitCode = exitCodeOf(error);
    await reportError(error, screen, { json, debug });
  }
  try {
    await screen.flush();
  } catch {
    // Output that could not be written is a failure, and there is nowhere left to say so.
    return exitCode === exitCodes.completed ? exitCodes.failed : exitCode;
  }
  return exitCode;
}

async function dispatch(args: readonly string[], context: CliContext): Promise<number> {
  let exitCode: number = exitCodes.completed;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  const [name] = args;
  const isKnown = program.commands.some((command) => command.name() === name) || name === 'help';
  if (name !== undefined && !name.startsWith('-') && !isKnown) {
    const { pluginCommand } = await import('./commands/plugin-command.js');
    return pluginCommand(context, name, args.slice(1));
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') return exitCodes.completed;
    // A group without its command: the help that was shown says it all.
    if (error.code === 'commander.help') return exitCodes.usage;
    throw error;
  }
  return exitCode;
}

function optionsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}
