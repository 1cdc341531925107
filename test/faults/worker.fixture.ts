import { join } from 'node:path';
import { z } from 'zod';
import { createRuntime, loadSession, outcomeHash, stateHash } from '@perdure/core';
import { openAiCompatibleModel } from '@perdure/model-openai-compatible';
import {
  APPROVAL,
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  NODE_PRESENCE,
  PERMISSION,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
} from '@perdure/plugin-api';
import {
  killAt,
  killingEventStore,
  killingModel,
  killingTools,
  recordKillPoints,
  type KillPoint,
} from '@perdure/testing';
import { toolsDelegate } from '@perdure/tools-delegate';
import { seesDeathAtOnce, whenOthersAreDead } from '../fixtures/killed-owner.js';
import { openTestStores } from '../fixtures/test-stores.js';
import { delegating } from './delegation-scenario.js';
import { scenarioTools } from './scenario-tools.js';
import { scenarios } from './scenario.js';

/**
 * Drives a scenario in a process of its own: `{ scenario, folder, url, kill? }` as JSON in the first argument. With
 * `kill` it ends itself there; else it prints what came of the scenario and which points it passed.
 */
interface Order {
  readonly scenario: string;
  readonly folder: string;
  readonly url: string;
  readonly kill?: KillPoint;
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const scenario = scenarios.find(({ name }) => name === order.scenario);
if (scenario === undefined) throw new Error(`no scenario ${order.scenario}`);
const recorder = recordKillPoints();
const plan = order.kill === undefined ? recorder : killAt(order.kill);
const workspace = join(order.folder, 'workspace');

const stores = definePlugin({
  name: 'stores',
  api: 1,
  version: '1.0.0',
  config: z.object({}),
  provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE, NODE_PRESENCE],
  setup: async ({ provide }) => {
    const opened = await openTestStores(order.folder);
    provide(EVENT_STORE, killingEventStore(opened.events, plan));
    provide(ARTIFACT_STORE, opened.artifacts);
    provide(PROJECTION_STORE, opened.projections);
    provide(SNAPSHOT_STORE, opened.snapshots);
    if (opened.presence !== undefined) provide(NODE_PRESENCE, opened.presence);
    return { stop: () => opened.close() };
  },
});
const permission = definePlugin({
  name: 'permission',
  api: 1,
  version: '1.0.0',
  config: z.object({}),
  provides: [PERMISSION, APPROVAL],
  setup: ({ provide }) => {
    const decide = ({ tool }: { tool: string }) => ({ decision: tool === 'asked' ? 'ask' : 'allow' }) as const;
    provide(PERMISSION, { id: 'all', digest: 'all', decide });
    provide(APPROVAL, { id: 'people', digest: 'people', mode: 'ask' });
    return {};
  },
});

// Sessions that hand nothing on are as they are without it.
const delegation = scenario.name === delegating.name ? [toolsDelegate] : [];
const runtime = await createRuntime({
  plugins: [stores, permission, ...delegation],
  closeGraceMs: 200,
  waitingGraceMs: 20,
  ...(seesDeathAtOnce ? {} : { leaseTtlMs: 400 }),
});
const model = (modelId: string) => killingModel(openAiCompatibleModel({ baseUrl: order.url, modelId }), plan);
const agent = runtime.agent({
  id: 'clerk',
  model: 'first',
  models: { first: model('first'), second: model('second') },
  instruction: 'Be quick.',
  tools: killingTools(scenarioTools(workspace, join(order.folder, 'log')), plan),
  limits: { maxOutputCharacters: 1_000 },
  context: scenario.context ?? {},
  titles: scenario.titles ?? false,
});
await agent.ready();
await whenOthersAreDead(runtime);
const prepared = await scenario.prepare?.(agent);
const session = prepared ?? agent.session(workspace, { sessionId: 's', tenantId: order.scenario });
await scenario.drive(session, agent);
await session.close();
const { store, facts } = runtime.services;
const folded = await loadSession(store, 'session-_.s', facts);
const report = {
  outcomeHash: outcomeHash(folded.state, undefined),
  stateHash: stateHash(folded.state),
  difference: (await agent.replay('s')).difference ?? null,
  passed: recorder.passed,
};
process.stdout.write(`\n${JSON.stringify(report)}\n`);
await runtime.dispose();
