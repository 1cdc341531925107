import { PerdureError, type CommandInfo, type SlashCommand } from '@perdure/plugin-api';
import { initialised, type AgentView } from '../host/agent-view.js';
import type { SessionAdditions } from '../host/session-additions.js';
import { builtInCommands, type BuiltInCommand } from './built-in-commands.js';
import { checkCommand } from './check-command.js';

export type ListedCommand =
  | { readonly source: 'session' | 'plugin'; readonly command: SlashCommand }
  | { readonly source: 'built-in'; readonly command: BuiltInCommand };

/** The commands of a session by name. The session's own come before those of plugins, and these before ours. */
export function commandsOf(agent: AgentView, additions: SessionAdditions): ReadonlyMap<string, ListedCommand> {
  const commands = new Map<string, ListedCommand>();
  for (const command of builtInCommands) commands.set(command.name, { source: 'built-in', command });
  for (const { name, commands: brought } of agent.parts.commandSources) {
    initialised(`commands of ${name}`, () => {
      for (const command of brought) {
        checkCommand(command, (field, reason) => new TypeError(`${field}: ${reason}`));
        commands.set(command.name, { source: 'plugin', command });
      }
    });
  }
  for (const command of additions.commands.values()) commands.set(command.name, { source: 'session', command });
  return commands;
}

export function listCommands(agent: AgentView, additions: SessionAdditions): readonly CommandInfo[] {
  return Array.from(commandsOf(agent, additions).values(), ({ source, command: { name, description } }) => {
    return { name, description, source };
  }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Throws PERDURE_COMMAND_UNKNOWN. */
export function findCommand(name: string, agent: AgentView, additions: SessionAdditions): ListedCommand {
  const found = commandsOf(agent, additions).get(name);
  if (found === undefined) throw new PerdureError('PERDURE_COMMAND_UNKNOWN', { command: name });
  return found;
}
