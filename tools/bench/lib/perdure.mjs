import { join } from 'node:path';
import { createRuntime } from '@perdure/core';
import { policyPermission } from '@perdure/policy-permission';
import { storeSqlite } from '@perdure/store-sqlite';
import { z } from 'zod';
import { lookup, model } from './work.mjs';

/** Perdure as a user runs it: SQLite, permission rules, streams, drafts and snapshots on. */
export async function openPerdure(folder, options = {}) {
  const runtime = await createRuntime({
    plugins: [
      { plugin: storeSqlite, config: { path: join(folder, 'perdure.db') } },
      { plugin: policyPermission, config: { allow: ['lookup'] } },
    ],
  });
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
    session: (id) => agent.session('', { sessionId: id }),
    async turn(id, text) {
      const result = await agent.session('', { sessionId: id }).send(text);
      if (!result.success) throw new Error(`turn ${result.status}: ${result.error?.message}`);
      return result.text;
    },
    close: () => runtime.dispose(),
  };
}
