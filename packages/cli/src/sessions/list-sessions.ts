import { sessionKeyOf } from '@perdure/events';
import type { SessionSummary } from '@perdure/plugin-api';
import type { PerdureRuntime } from '@perdure/runtime';

export type ListedSession = SessionSummary & { readonly tenant: string | null };

/** Sessions of all agents of the store, the most recently changed first, as the projection of each agent has them. */
export async function listSessions(runtime: PerdureRuntime, limit: number): Promise<readonly ListedSession[]> {
  const listed: ListedSession[] = [];
  for (const { id, tenant } of await agentsOf(runtime)) {
    const agent = runtime.agent({ id, ...(tenant === undefined ? {} : { tenant }) });
    try {
      const { items } = await agent.sessions.list({ limit: Math.min(limit, 500) });
      listed.push(...items.map((item) => ({ ...item, tenant: tenant ?? null })));
    } finally {
      await agent.dispose();
    }
  }
  return listed.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, limit);
}

interface KnownAgent {
  readonly id: string;
  readonly tenant: string | undefined;
}

/** The agents, with their tenants, that have made sessions. */
async function agentsOf({ services: { store, facts } }: PerdureRuntime): Promise<readonly KnownAgent[]> {
  const agents = new Map<string, KnownAgent>();
  const controller = new AbortController();
  const options = { categories: ['session'], types: ['SessionCreated'], signal: controller.signal };
  for await (const batch of store.subscribe({ all: true }, options)) {
    for (const fact of batch.facts) {
      const { agentId } = facts.read(fact).payload as { readonly agentId?: unknown };
      const tenant = sessionKeyOf(fact.stream)?.tenant;
      if (typeof agentId === 'string') agents.set(JSON.stringify([tenant, agentId]), { id: agentId, tenant });
    }
    if (batch.caughtUp) break;
  }
  controller.abort();
  return [...agents.values()];
}
