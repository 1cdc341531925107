import type { BudgetPayloadOf, PayloadOf, RecordedFact } from '@perdure/events';
import type { Row } from './analytics-databases.fixture.js';

/** What the example queries must say, worked out from the payloads of the store, without columns and without SQL. */
export class StoreFigures {
  private readonly facts: readonly (readonly [tenant: string | null, fact: RecordedFact])[];

  constructor(streams: ReadonlyMap<string, readonly RecordedFact[]>) {
    this.facts = [...streams].flatMap(([stream, facts]) => {
      const tenant = /^(?:session|budget)-([^.]+)\./.exec(stream)?.[1] ?? '_';
      return facts.map((fact) => [tenant === '_' ? null : tenant, fact] as const);
    });
  }

  costByTenant(): readonly Row[] {
    const rows = new Map<string | null, { micros: number; input: number; output: number; calls: number }>();
    const rowOf = (tenant: string | null) => {
      const row = rows.get(tenant) ?? { micros: 0, input: 0, output: 0, calls: 0 };
      rows.set(tenant, row);
      return row;
    };
    for (const [tenant, fact] of this.facts) {
      if (fact.type === 'BudgetSettled') {
        rowOf(tenant).micros += (JSON.parse(fact.payload) as BudgetPayloadOf<'BudgetSettled'>).amount.micros;
      }
      if (fact.type === 'ModelAnswered') {
        const { usage } = JSON.parse(fact.payload) as PayloadOf<'ModelAnswered'>;
        const row = rowOf(tenant);
        row.input += usage.inputTokens ?? 0;
        row.output += usage.outputTokens ?? 0;
        row.calls += 1;
      }
    }
    return [...rows]
      .sort(([, a], [, b]) => b.micros - a.micros)
      .map(([tenant, { micros, input, output, calls }]) => ({
        tenant,
        cost_micros: micros,
        tokens_in: input,
        tokens_out: output,
        model_calls: calls,
      }));
  }

  toolFailureRate(): readonly Row[] {
    const names = new Map(
      this.payloads<'ToolCallDecided'>('ToolCallDecided').map(({ callId, name }) => [callId, name]),
    );
    const outcomes = new Map<string, PayloadOf<'ToolCallSettled'>['status'][]>();
    for (const { callId, status } of this.payloads<'ToolCallSettled'>('ToolCallSettled')) {
      const name = names.get(callId) ?? '';
      outcomes.set(name, [...(outcomes.get(name) ?? []), status]);
    }
    const sorted = [...outcomes.keys()].sort();
    return sorted.map((name) => {
      const of = (...wanted: string[]) => (outcomes.get(name) ?? []).filter((status) => wanted.includes(status)).length;
      const [completed, failed] = [of('completed'), of('failed')];
      return {
        tool_name: name,
        calls: outcomes.get(name)?.length ?? 0,
        completed,
        failed,
        denied: of('denied'),
        without_outcome: of('cancelled', 'unknown'),
        failure_rate: completed + failed === 0 ? null : failed / (completed + failed),
      };
    });
  }

  timeToFirstToken(): readonly Row[] {
    const times = new Map<string, number[]>();
    for (const answer of this.payloads<'ModelAnswered'>('ModelAnswered')) {
      const { purpose, provider, modelId, startedAt, firstDeltaAt } = answer;
      if (purpose !== 'step' || firstDeltaAt === undefined) continue;
      const key = JSON.stringify([provider, modelId]);
      times.set(key, [...(times.get(key) ?? []), firstDeltaAt - startedAt]);
    }
    return [...times]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, all]) => {
        const [provider = '', model_id = ''] = JSON.parse(key) as string[];
        const sorted = all.sort((a, b) => a - b);
        const rank = (percent: number) => sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null;
        return { provider, model_id, answers: all.length, p50_ms: rank(50), p95_ms: rank(95), max_ms: rank(100) };
      });
  }

  private payloads<Type extends 'ModelAnswered' | 'ToolCallDecided' | 'ToolCallSettled'>(type: Type) {
    return this.facts
      .filter(([, fact]) => fact.type === type)
      .map(([, { payload }]) => JSON.parse(payload) as PayloadOf<Type>);
  }
}
