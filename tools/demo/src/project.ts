import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the demonstration and what is in it. */
export interface DemoPlace {
  /** The project that the agent works on. */
  readonly project: string;
  /** Stands for what a tool does to the world outside: each announcement is a line. */
  readonly channel: string;
  readonly store: string;
}

const files: Readonly<Record<string, string>> = {
  'package.json': `{ "name": "prices", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n`,
  'README.md': '# prices\n\nAdds prices up. `npm test` runs the tests.\n',
  'src/total.js': `/** The sum of prices, in cents. */
export function total(prices) {
  let sum = 0;
  for (let index = 1; index < prices.length; index++) sum += prices[index];
  return sum;
}
`,
  'test/total.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/total.js';

test('the total is the sum of all prices', () => {
  assert.equal(total([250, 199, 51]), 500);
});
`,
};

/** Makes the project, with a test that fails, and the configuration of its agent. */
export function makeProject(folder: string, modelUrl: string): DemoPlace {
  const place = {
    project: join(folder, 'project'),
    channel: join(folder, 'channel.txt'),
    store: join(folder, 'state', 'perdure.db'),
  };
  const all = { ...files, 'perdure.config.mjs': configuration(place, modelUrl) };
  for (const [path, text] of Object.entries(all)) {
    const file = join(place.project, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return place;
}

/** The tool has its effect at once and waits long for its confirmation: whoever kills it then does so in the middle. */
function configuration({ channel, store }: DemoPlace, modelUrl: string): string {
  return `import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const channel = ${JSON.stringify(channel)};
const sent = (key) => existsSync(channel) && readFileSync(channel, 'utf8').includes(key);

/** Tells the team. Nobody wants to be told twice: the tool can find out whether a call took effect. */
const announce = {
  description: 'Announces something to the team.',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  effect: 'reconcile',
  async execute({ message }, { idempotencyKey, abortSignal }) {
    appendFileSync(channel, \`\${idempotencyKey} \${message}\\n\`);
    await new Promise((resolve, reject) => {
      setTimeout(resolve, 60_000);
      abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
    });
    return 'announced';
  },
  async reconcile(_, { idempotencyKey }) {
    return sent(idempotencyKey) ? { status: 'happened', output: 'announced' } : { status: 'voided' };
  },
};

export default {
  baseUrl: ${JSON.stringify(modelUrl)},
  modelId: 'scripted',
  store: { path: ${JSON.stringify(store)} },
  permissions: { allow: ['read', 'list', 'find', 'grep', 'edit(src/**)', 'write(CHANGES.md)', 'announce'] },
  agent: { instruction: 'You look after this project. Be brief.', tools: { announce } },
};
`;
}
