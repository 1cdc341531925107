import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { PlaceFlags } from '../config/settings.js';
import type { Finish } from '../program.js';
import { withModel, withOutput, withPlace } from './command-options.js';
import type { DoctorFlags } from './doctor.js';
import type { PluginsNewFlags } from './plugins-new.js';

export function addPluginsCommands(program: Command, context: CliContext, finish: Finish): void {
  const plugins = program.command('plugins').description('list plugins, begin a plugin');
  withOutput(withPlace(plugins.command('list').description('the default plugins and those that are installed'))).action(
    async (flags: PlaceFlags) => {
      const { pluginsList } = await import('./plugins-list.js');
      finish(await pluginsList(context, flags));
    },
  );
  withOutput(plugins.command('new <name>').description('write the files of a new plugin package'))
    .option('--port <port>', 'what it provides: tools or event-store (default: tools)')
    .option('--dir <dir>', 'the folder to make (default: the name)')
    .action(async (name: string, flags: PluginsNewFlags) => {
      const { pluginsNew } = await import('./plugins-new.js');
      finish(await pluginsNew(context, name, flags));
    });
}

export function addDoctorCommand(program: Command, context: CliContext, finish: Finish): void {
  withOutput(withModel(withPlace(program.command('doctor').description('check what runs need, and say how to fix it'))))
    .option('--accept-loss', 'go on with a store that lost its end')
    .option('--yes', 'with --accept-loss: do not ask')
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import('./doctor.js');
      finish(await doctor(context, flags));
    });
}
