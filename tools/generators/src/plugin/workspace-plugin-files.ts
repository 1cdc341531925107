import { newPluginFiles, newPluginPorts, ownVersion } from '@perdure/cli/new-plugin';
import { PerdureError } from '@perdure/plugin-api';
import { z } from 'zod';

export const workspacePluginOptions = z.object({
  name: z.string(),
  port: z.enum(newPluginPorts).default('tools'),
  description: z.string().exactOptional(),
});
export type WorkspacePluginOptions = z.output<typeof workspacePluginOptions>;

/** A plugin of this repository. `folder` is its path from the root, and the files are by path from there. */
export interface WorkspacePlugin {
  readonly folder: string;
  readonly files: ReadonlyMap<string, string>;
}

const outsideManifest = z.object({
  name: z.string(),
  description: z.string(),
  engines: z.record(z.string(), z.string()),
  perdure: z.unknown(),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
type OutsideManifest = z.output<typeof outsideManifest>;

/** The sources of a plugin as one outside of this repository has them, with the files that a package in it has. */
export function workspacePluginFiles({ name, port, description }: WorkspacePluginOptions): WorkspacePlugin {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'name', reason: 'it must be in kebab-case' });
  }
  const described = description === undefined ? {} : { description };
  const outside = newPluginFiles({ name: `@perdure/${name}`, port, version: ownVersion(), ...described });
  const manifest = outsideManifest.parse(JSON.parse(outside.get('package.json') ?? ''));
  const folder = `plugins/${name}`;
  return {
    folder,
    files: new Map([
      ...[...outside].filter(([path]) => path.startsWith('src/')),
      ['package.json', json(packageManifest(manifest))],
      ['README.md', readme(manifest, port, folder)],
      ['tsconfig.json', json(solution)],
      ['tsconfig.lib.json', json(library(manifest))],
      ['tsconfig.spec.json', json(tests(manifest))],
    ]),
  };
}

function packageManifest({ name, description, engines, perdure, ...outside }: OutsideManifest): object {
  const ofRepository = ([dependency]: [string, string]): boolean => /^@perdure\/|^zod$/.test(dependency);
  return {
    name,
    version: '0.1.0',
    description,
    license: 'Apache-2.0',
    type: 'module',
    engines,
    exports: {
      '.': { '@perdure/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    files: ['dist', 'README.md', '!**/*.tsbuildinfo'],
    perdure,
    publishConfig: { access: 'public' },
    dependencies: outside.dependencies,
    peerDependencies: outside.peerDependencies,
    devDependencies: Object.fromEntries(Object.entries(outside.devDependencies).filter(ofRepository)),
    nx: { tags: ['layer:plugin'], targets: { lint: {}, test: {} } },
  };
}

const TEST_SOURCES = ['src/**/*.test.ts', 'src/**/*.fixture.ts', 'src/testing/**/*.ts'];
const solution = {
  extends: '../../tsconfig.base.json',
  files: [],
  references: [{ path: './tsconfig.lib.json' }, { path: './tsconfig.spec.json' }],
};

function library({ dependencies, devDependencies }: OutsideManifest): object {
  return {
    extends: '../../tsconfig.base.json',
    compilerOptions: { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/lib.tsbuildinfo' },
    include: ['src/**/*.ts'],
    exclude: TEST_SOURCES,
    references: frameworkReferences({ ...dependencies, ...devDependencies }),
  };
}

function tests({ dependencies, devDependencies }: OutsideManifest): object {
  return {
    extends: '../../tsconfig.base.json',
    compilerOptions: { rootDir: 'src', outDir: 'out-tsc', tsBuildInfoFile: 'out-tsc/spec.tsbuildinfo' },
    include: TEST_SOURCES,
    references: [{ path: './tsconfig.lib.json' }, ...frameworkReferences({ ...dependencies, ...devDependencies })],
  };
}

function frameworkReferences(dependencies: Readonly<Record<string, string>>): readonly { readonly path: string }[] {
  return Object.keys(dependencies)
    .filter((name) => name.startsWith('@perdure/'))
    .map((name) => ({ path: `../../packages/${name.slice('@perdure/'.length)}/tsconfig.lib.json` }));
}

function readme({ name, description }: OutsideManifest, port: string, folder: string): string {
  return `# ${name}

${description}

\`\`\`sh
npm install ${name} @perdure/core zod
\`\`\`

\`\`\`ts
import { createRuntime } from '@perdure/core';

const runtime = await createRuntime({ plugins: ['${name}'] });
\`\`\`

It provides \`${port}\` and needs nothing. There are no options.

## Testing it

\`npx vitest run ${folder}\`, from the root of the repository.
`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
