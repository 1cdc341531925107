import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from '../program.js';
import { withOutput, withPlace } from './command-options.js';
import type { RelayFlags } from './relay.js';

/** `relay …`: the facts of a store on topics elsewhere, by a plugin of the configuration. */
export function addRelayCommands(program: Command, context: CliContext, finish: Finish): void {
  const relay = program.command('relay').description('bring the facts of a store to topics, and check them there');
  const add = (name: string, description: string): Command => {
    const command = withOutput(withPlace(relay.command(name).description(description)));
    return command.action(async (flags: RelayFlags) => {
      const { relayCommand } = await import('./relay.js');
      finish(await relayCommand(context, name, flags));
    });
  };
  add('run', 'relay until SIGTERM, or stand by while another relay does');
  add('status', 'who relays, and how far the topic is behind the store');
  add('republish', 'send everything from the beginning to other topics').requiredOption(
    '--prefix <prefix>',
    'what the names of the other topics begin with',
  );
  add('verify', 'whether each fact is on the topic as it is stored, and nothing else').option(
    '--prefix <prefix>',
    'what the names of the topics begin with (default: as configured)',
  );
  add('tail', "a session's messages on the topic, from the first, and then as they come")
    .requiredOption('--session <id>', 'the id of the session')
    .option('--tenant <tenant>', 'its tenant (default: none)')
    .option('--once', 'end behind the last one that is there');
}
