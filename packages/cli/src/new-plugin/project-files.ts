import type { PortSources } from './port-sources.js';
import { pluginNameOf } from './new-plugin-name.js';

/** Versions that a new plugin is built and tested with: those of the repository that this package comes from. */
export const newPluginTools = {
  '@types/node': '20.19.43',
  typescript: '6.0.3',
  vitest: '4.1.12',
  zod: '4.6.7',
} as const;

export interface Project {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly sources: PortSources;
}

/** Everything of a package but its sources. */
export function projectFiles(project: Project): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', json(manifest(project))],
    ['tsconfig.json', json(typeCheck)],
    ['tsconfig.build.json', json(build)],
    ['vitest.config.ts', VITEST_CONFIG],
    ['.gitignore', 'node_modules/\ndist/\n'],
    ['README.md', readme(project)],
  ]);
}

function manifest({ name, version, description, sources }: Project): object {
  const { typescript, vitest, zod } = newPluginTools;
  return {
    name,
    version: '0.1.0',
    description,
    type: 'module',
    engines: { node: '>=20.19' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
    perdure: { plugin: '.', api: 1, provides: [sources.token] },
    scripts: { build: 'tsc -p tsconfig.build.json', typecheck: 'tsc', test: 'vitest run' },
    dependencies: {
      ...(sources.needsEvents ? { '@perdure/events': version } : {}),
      '@perdure/plugin-api': version,
    },
    peerDependencies: { zod },
    devDependencies: {
      ...(sources.needsTesting ? { '@perdure/testing': version } : {}),
      '@types/node': newPluginTools['@types/node'],
      typescript,
      vitest,
      zod,
    },
  };
}

const typeCheck = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    isolatedModules: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['src/**/*.ts'],
};

const build = {
  extends: './tsconfig.json',
  compilerOptions: { rootDir: 'src', outDir: 'dist', declaration: true, noEmit: false },
  exclude: ['src/**/*.test.ts'],
};

const VITEST_CONFIG = `import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['src/**/*.test.ts'] } });
`;

function readme({ name, description, sources }: Project): string {
  return `# ${name}

${description}

A plugin for Perdure: it provides \`${sources.token}\`.

\`\`\`sh
npm install ${name}
\`\`\`

\`\`\`ts
import { createRuntime } from '@perdure/core';

const runtime = await createRuntime({ plugins: ['${name}'] });
\`\`\`

## Working on it

\`npm install\`, then \`npm run build\`, \`npm test\` and \`npm run typecheck\`.

${sources.nextStep}

\`package.json\` says what the plugin provides in its member \`perdure\`, so that plugins can be listed without running
them. It must say the same as \`src/plugin.ts\`: the plugin \`${pluginNameOf(name)}\` for the plugin API 1.
`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
