import { createRuntime } from '@perdure/core';
import { definePlugin, GATES, HOOKS } from '@perdure/plugin-api';
import { policyPermission } from '@perdure/policy-permission';
import { z } from 'zod';
import { storesFor } from './stores.mjs';
import { lookup, model } from './work.mjs';

const folders = ['src', 'test', 'docs', 'packages', 'plugins', 'tools'];
const rulesFor = (tools) => tools.flatMap((tool) => folders.map((folder) => `${tool}(${folder}/**)`));

/**
 * What decides about calls. `perdure` has one rule, as the floor has none; `plain` has none that could fit; `gates` has
 * many rules, which are all looked through, and a gate of a plugin; `hook` is plain and has a hook before each call.
 */
const governed = {
  perdure: { rules: { allow: ['lookup'] } },
  plain: { rules: { default: 'allow', allow: [], deny: [], ask: [] } },
  gates: {
    rules: {
      deny: ['write(**/.env)', 'edit(**/.git/**)', 'shell_exec(rm **)', 'lookup(*secret*)', ...rulesFor(['edit'])],
      ask: ['shell_exec(git push **)', ...rulesFor(['write'])],
      allow: [...rulesFor(['read', 'list']), 'lookup(*never*)', 'lookup'],
    },
    plugins: [
      agentPlugin('rule-gate', GATES, {
        id: 'rule-gate',
        kind: 'rule',
        digest: 'rule-gate',
        decide: ({ tool }) => (tool === 'lookup' ? { decision: 'allow' } : { decision: 'deny', reason: 'not here' }),
      }),
    ],
  },
  hook: {
    rules: { default: 'allow', allow: [], deny: [], ask: [] },
    plugins: [agentPlugin('hook', HOOKS, { id: 'hook', event: 'pre_tool_use', handler: async () => null })],
  },
};

function agentPlugin(name, token, value) {
  return definePlugin({
    name,
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [token],
    setup: ({ provide }) => {
      provide(token, value);
      return {};
    },
  });
}

/**
 * Perdure as a user runs it: SQLite or the store named, permission rules, streams, drafts and snapshots on. `place` has
 * the address of the store's server and the name that this run has there.
 */
export async function openPerdure(folder, options = {}) {
  const { rules, plugins = [] } = governed[options.governance ?? 'perdure'];
  const runtime = await createRuntime({
    plugins: [
      ...storesFor(options.store ?? 'sqlite', folder, options.place),
      { plugin: policyPermission, config: rules },
      ...plugins,
    ],
    ...(options.nodeId === undefined ? {} : { env: { nodeId: options.nodeId } }),
  });
  const commits = countCommits(runtime.services.store);
  const agent = runtime.agent({
    id: 'bench',
    model: options.model ?? model,
    instruction: 'You are measured.',
    tools: {
      lookup: {
        description: 'Look one value up.',
        inputSchema: z.object({ round: z.number() }),
        effect: 'read',
        execute: options.tool ?? lookup,
      },
    },
    limits: { maxSteps: 1_000_000 },
  });
  await agent.ready();
  return {
    runtime,
    agent,
    commits,
    session: (id) => agent.session('', { sessionId: id }),
    async turn(id, text) {
      const result = await agent.session('', { sessionId: id }).send(text);
      if (!result.success) throw new Error(`turn ${result.status}: ${result.error?.message}`);
      return result.text;
    },
    close: () => runtime.dispose(),
  };
}

/** Counts the commits of sessions, where they reach the store. */
function countCommits(store) {
  let count = 0;
  const append = store.append.bind(store);
  store.append = (stream, ...rest) => {
    if (stream.startsWith('session-')) count += 1;
    return append(stream, ...rest);
  };
  return () => count;
}
