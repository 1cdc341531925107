import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('print-plugin-files.ts', import.meta.url));

/**
 * Makes a plugin package in this repository: `npx nx g @perdure/generators:plugin my-thing --port tools`.
 *
 * Nx loads generators as JavaScript and knows no sources of this repository. A child process does, so that nothing has
 * to be built before.
 *
 * @param {import('nx/src/generators/tree.js').Tree} tree
 * @param {{ name: string, port?: string, description?: string }} options
 */
export function pluginGenerator(tree, options) {
  const args = ['--import', 'tsx', '--conditions=@perdure/source', script, JSON.stringify(options)];
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim());
  const { folder, files } = JSON.parse(stdout);
  if (tree.exists(folder) || tree.children(folder).length > 0) throw new Error(`There is something in ${folder}.`);
  for (const [path, text] of Object.entries(files)) tree.write(`${folder}/${path}`, text);
  addReference(tree, `./${folder}`);
  return () => console.log(`\nNext: npm install && npm run pins && npx vitest run ${folder}`);
}

function addReference(tree, path) {
  const solution = JSON.parse(tree.read('tsconfig.json', 'utf8'));
  solution.references = [...solution.references, { path }];
  tree.write('tsconfig.json', `${JSON.stringify(solution, null, 2)}\n`);
}
