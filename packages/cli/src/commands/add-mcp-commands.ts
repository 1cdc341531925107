import { Option, type Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { PlaceFlags } from '../config/settings.js';
import type { Finish } from '../program.js';
import { collect, withOutput, withPlace } from './command-options.js';
import type { McpAddFlags } from './mcp-edit.js';

export function addMcpCommands(program: Command, context: CliContext, finish: Finish): void {
  const mcp = program.command('mcp').description('the MCP servers of the configuration');
  const add = (command: Command): Command => withOutput(withPlace(command));
  add(mcp.command('list').description('what is configured; nothing is started')).action(async (flags: PlaceFlags) => {
    const { mcpList } = await import('./mcp.js');
    finish(await mcpList(context, flags));
  });
  add(mcp.command('doctor [name]').description('connect to all or to one, and say what they offer')).action(
    async (name: string | undefined, flags: PlaceFlags) => {
      const { mcpDoctor } = await import('./mcp.js');
      finish(await mcpDoctor(context, name, flags));
    },
  );
  add(mcp.command('add <name> [command...]').description('add a server to perdure.config.json: its command after "--"'))
    .option('--url <url>', 'the address of a server over HTTP, in place of a command')
    .option('--variable <name=value>', 'a variable for the command; may be repeated', collect, [])
    .option('--header <name=value>', 'a header for the address; may be repeated', collect, [])
    .addOption(new Option('--trust <trust>', 'whether its hints about tools are believed').choices(['none', 'hints']))
    .action(async (name: string, command: string[], flags: McpAddFlags) => {
      const { mcpAdd } = await import('./mcp-edit.js');
      finish(await mcpAdd(context, name, command, flags));
    });
  add(mcp.command('remove <name>').description('remove a server from perdure.config.json')).action(
    async (name: string, flags: PlaceFlags) => {
      const { mcpRemove } = await import('./mcp-edit.js');
      finish(await mcpRemove(context, name, flags));
    },
  );
}
