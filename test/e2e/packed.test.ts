import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { published, root } from '../architecture/workspace.js';
import { emptyPackage, install, run, runModule } from './npm-project.js';

const packs = z.array(
  z.looseObject({ name: z.string(), filename: z.string(), files: z.array(z.looseObject({ path: z.string() })) }),
);

const SLOW = 300_000;
const framework = ['events', 'plugin-api', 'testing'];
const ports = ['event-store', 'tools'] as const;

let place: string;
let packed: z.output<typeof packs>;

function tarball(name: string): string {
  const found = packed.find((pack) => pack.name === `@perdure/${name}`);
  return join(place, found?.filename ?? `${name} was not packed`);
}

async function pack(folders: readonly string[], from: string): Promise<z.output<typeof packs>> {
  const printed = await run(from, 'npm', [
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    place,
    ...folders,
  ]);
  return packs.parse(JSON.parse(printed));
}

/** Everything that is published is built, packed and installed far from this repository, as its users have it. */
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'perdure-packed-'));
  await run(root, 'npx', ['tsc', '-b', ...published.map(({ folder }) => `${folder}/tsconfig.lib.json`)]);
  packed = await pack(
    published.map(({ folder }) => `./${folder}`),
    root,
  );
  await emptyPackage(join(place, 'host'));
  await install(
    join(place, 'host'),
    published.map(({ manifest }) => tarball(manifest.name.replace('@perdure/', ''))),
    { isSaved: true },
  );
}, SLOW);
afterAll(() => rm(place, { recursive: true, force: true }));

describe('the packed packages', () => {
  test('hold what was built, and no test', () => {
    expect(packed).toHaveLength(published.length);
    for (const { name, files } of packed) {
      const paths = files.map(({ path }) => path);
      expect(paths, name).toEqual(expect.arrayContaining(['package.json', 'dist/index.js', 'dist/index.d.ts']));
      const odd = paths.filter((path) => /\.(?:test|fixture)\.|tsbuildinfo|^src\/|(?:^|\/)testing\//.test(path));
      expect(odd, name).toEqual([]);
    }
  });

  test('have a README each', () => {
    const without = packed.filter(({ files }) => !files.some(({ path }) => path === 'README.md'));
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test('can all be imported', async () => {
    const names = published.map(({ manifest }) => manifest.name);
    const text = `const names = ${JSON.stringify(names)};
      for (const name of names) await import(name);
      await import('@perdure/core/testing');
      console.log(JSON.stringify(names));`;
    expect(await runModule(join(place, 'host'), 'import-all.mjs', text)).toEqual(names);
  });
});

/** A plugin made outside of this repository by what was packed. */
async function makePlugin(port: string): Promise<string> {
  const folder = join(place, `own-${port}`);
  const text = `import { newPluginFiles, ownVersion, writeNewPlugin } from '@perdure/cli/new-plugin';
    const files = newPluginFiles({ name: '@acme/own-${port}', port: '${port}', version: ownVersion() });
    await writeNewPlugin(${JSON.stringify(folder)}, files);
    console.log(JSON.stringify([...files.keys()]));`;
  await runModule(join(place, 'host'), `make-${port}.mjs`, text);
  return folder;
}

describe('a plugin made by the packed generator', () => {
  test.each(ports)('for %s installs, builds and passes its tests', { timeout: SLOW }, async (port) => {
    const folder = await makePlugin(port);
    await install(folder, framework.map(tarball), { isSaved: false });
    await run(folder, 'npm', ['run', 'build']);
    await run(folder, 'npm', ['run', 'typecheck']);
    const report = z
      .looseObject({ numPassedTests: z.int().positive(), numFailedTests: z.literal(0) })
      .parse(JSON.parse(await run(folder, 'npx', ['vitest', 'run', '--reporter=json'])));
    expect(report.numPassedTests).toBeGreaterThanOrEqual(port === 'event-store' ? 40 : 3);
    expect(await run(folder, 'npm', ['test'])).toContain('passed');
    const [own] = await pack(['.'], folder);
    expect(own?.files.map(({ path }) => path).filter((path) => /\.test\./.test(path))).toEqual([]);
    await install(join(place, 'host'), [join(place, own?.filename ?? '')], { isSaved: true });
  });

  test('is loaded by the name of its package and carries a session', { timeout: SLOW }, async () => {
    const text = `import { loadPlugins } from '@perdure/core';
      import { createTestRuntime } from '@perdure/core/testing';
      import { ScriptedModel } from '@perdure/testing';
      const names = ['@acme/own-event-store', '@acme/own-tools'];
      const loaded = await loadPlugins(names, import.meta.dirname);
      const runtime = await createTestRuntime({ plugins: names, pluginRoot: import.meta.dirname });
      const agent = runtime.agent({ id: 'helper', model: new ScriptedModel([{ text: 'Hello.' }]) });
      const session = await agent.sessions.create({ sessionId: 's' });
      const { status, text } = await session.send('Hi');
      await runtime.dispose();
      console.log(JSON.stringify({ loaded: loaded.map(({ plugin }) => plugin.name), status, text }));`;
    expect(await runModule(join(place, 'host'), 'load.mjs', text)).toEqual({
      loaded: ['own-event-store', 'own-tools'],
      status: 'completed',
      text: 'Hello.',
    });
  });

  test('for another api is refused with both numbers, and not run', { timeout: SLOW }, async () => {
    const folder = join(place, 'host', 'node_modules', '@acme', 'own-tools');
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { perdure: object };
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ ...manifest, perdure: { ...manifest.perdure, api: 2 } }),
    );
    await writeFile(join(folder, 'dist/index.js'), `console.log('It was run.');`);
    const text = `import { loadPlugins } from '@perdure/core';
      import { isPerdureError } from '@perdure/plugin-api';
      const error = await loadPlugins(['@acme/own-tools'], import.meta.dirname).catch((caught) => caught);
      const isMismatch = isPerdureError(error, 'PERDURE_PLUGIN_API_MISMATCH');
      console.log(JSON.stringify({ isMismatch, data: error.data, message: error.message }));`;
    expect(await runModule(join(place, 'host'), 'mismatch.mjs', text)).toEqual({
      isMismatch: true,
      data: { plugin: '@acme/own-tools', actual: 2, expected: 1 },
      message: 'The plugin "@acme/own-tools" is made for api 2; this runtime offers api 1.',
    });
  });
});
