import { relative, resolve } from 'node:path';
import { PerdureError } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { newPluginFiles, newPluginPorts, ownVersion, pluginNameOf, writeNewPlugin } from '../new-plugin/index.js';
import { jsonText } from '../terminal/json-text.js';
import { shellQuote } from '../turn/shell-quote.js';

export interface PluginsNewFlags {
  readonly port?: string;
  readonly dir?: string;
}

/** `perdure plugins new NAME`: the files of a new plugin package. */
export async function pluginsNew({ screen, json }: CliContext, name: string, flags: PluginsNewFlags): Promise<number> {
  const port = newPluginPorts.find((known) => known === (flags.port ?? 'tools'));
  if (port === undefined) {
    const reason = `it must be one of ${newPluginPorts.join(', ')}`;
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--port', reason });
  }
  const files = newPluginFiles({ name, port, version: ownVersion() });
  const folder = resolve(flags.dir ?? pluginNameOf(name));
  await writeNewPlugin(folder, files);
  if (json) {
    await screen.out.line(jsonText({ name, port, folder, files: [...files.keys()] }));
    return exitCodes.completed;
  }
  for (const path of files.keys()) await screen.out.line(relative('', resolve(folder, path)));
  await screen.note(`next: cd ${shellQuote(relative('', folder) || '.')} && npm install && npm test`);
  return exitCodes.completed;
}
