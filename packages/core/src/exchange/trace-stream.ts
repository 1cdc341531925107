import {
  isCoreType,
  readMetadata,
  type FactRegistry,
  type JsonValue,
  type PayloadOf,
  type RecordedFact,
  type SnapshotTrace,
} from '@perdure/events';

/** What the facts of a stream tell of themselves. */
export interface StreamTrace {
  readonly events: readonly SnapshotTrace[];
  /** Tokens of the last step, in and out. */
  readonly lastUsage: number;
}

/** Members of payloads that are ids and words, and their names in a trace. Texts of people and models are none. */
const TOLD: Readonly<Record<string, string>> = {
  attempt: 'attempt',
  callId: 'call_id',
  changeId: 'change_id',
  decision: 'decision',
  messageId: 'message_id',
  name: 'name',
  promptId: 'prompt_id',
  purpose: 'purpose',
  status: 'status',
};

/** Characters; an id is shorter, and what is longer is none. */
const LONGEST = 200;

/** Reads a stream page by page, and keeps of every fact what is small. */
export async function traceStream(
  pages: AsyncIterable<readonly RecordedFact[]>,
  registry: FactRegistry,
): Promise<StreamTrace> {
  const events: SnapshotTrace[] = [];
  let lastUsage = 0;
  for await (const page of pages) {
    for (const fact of page) {
      const { payload } = registry.read(fact);
      events.push(traceOf(fact, payload));
      if (fact.type === 'ModelAnswered') lastUsage = tokensOf(payload as PayloadOf<'ModelAnswered'>) ?? lastUsage;
    }
  }
  return { events, lastUsage };
}

function traceOf({ revision, type, metadata }: RecordedFact, payload: unknown): SnapshotTrace {
  const { time, turnId, runId, stepId, actor } = readMetadata(metadata);
  return {
    sequence: revision,
    timestamp_ms: time,
    kind: type,
    ...(turnId === undefined ? {} : { turn_id: turnId }),
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(stepId === undefined ? {} : { step_id: stepId }),
    actor: actor.kind,
    ...(isCoreType(type) ? told(payload) : {}),
  };
}

function told(payload: unknown): Record<string, JsonValue> {
  if (typeof payload !== 'object' || payload === null) return {};
  const members = payload as Readonly<Record<string, unknown>>;
  const kept: Record<string, JsonValue> = {};
  for (const [member, name] of Object.entries(TOLD)) {
    const value = members[member];
    if (typeof value === 'number' || (typeof value === 'string' && value.length <= LONGEST)) kept[name] = value;
  }
  const { failure } = members as { readonly failure?: { readonly code?: unknown } };
  return typeof failure?.code === 'string' ? { ...kept, code: failure.code } : kept;
}

function tokensOf({ purpose, usage }: PayloadOf<'ModelAnswered'>): number | undefined {
  return purpose === 'step' ? usage.inputTokens + usage.outputTokens : undefined;
}
