import { Option, type Command } from 'commander';

/** Options of every command that looks at a store or a configuration. */
export function withPlace(command: Command): Command {
  return command
    .option('-w, --workspace <dir>', 'the folder that it is about (default: the current one)')
    .option('--config <file>', 'the configuration, in place of the one found from the workspace upwards')
    .option('--store <place>', 'the database file of the sessions, or postgres://… or esdb://…');
}

export function withModel(command: Command): Command {
  return command
    .option('--base-url <url>', 'endpoint of an OpenAI-compatible model')
    .option('--model-id <id>', "the model's id there")
    .option('--api-key-env <name>', 'environment variable with its key (default: PERDURE_API_KEY)');
}

export function withRules(command: Command): Command {
  return command
    .option('--allow <rule>', 'allow calls, such as "write(src/**)"; may be repeated', collect, [])
    .option('--deny <rule>', 'deny calls; may be repeated', collect, [])
    .addOption(
      new Option(
        '--shell <mode>',
        'a tool for commands, in a sandbox (default: safe where a sandbox works, else off)',
      ).choices(['safe', 'off']),
    );
}

/** What becomes of calls that the rules leave open, in commands that run turns. */
export function withApprovals(command: Command): Command {
  return command.addOption(
    new Option(
      '--approvals <how>',
      'calls that the rules leave open: ask here, wait for an answer from anywhere, or deny ' +
        '(default: ask at a terminal, else deny)',
    ).choices(['ask', 'wait', 'deny']),
  );
}

/** Options of output, which all commands have. They are read before the command line is. */
export function withOutput(command: Command): Command {
  return command
    .option('--json', 'machine-readable output: JSON on standard output, errors as JSON on standard error')
    .option('--no-color', 'no colors, as NO_COLOR=1');
}

/** Of an option that may be repeated: all of its values. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
