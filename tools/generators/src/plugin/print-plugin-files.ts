/** Prints the files of a plugin as JSON. The options are the first argument, as JSON. */
import { isPerdureError } from '@perdure/plugin-api';
import { workspacePluginFiles, workspacePluginOptions } from './workspace-plugin-files.js';

try {
  const { folder, files } = workspacePluginFiles(workspacePluginOptions.parse(JSON.parse(process.argv[2] ?? '{}')));
  console.log(JSON.stringify({ folder, files: Object.fromEntries(files) }));
} catch (error) {
  if (!isPerdureError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
