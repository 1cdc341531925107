import type { ArtifactReference, Failure, FilePart, JsonValue, SettlementStatus } from '@perdure/events';
import type { ScopedInvoker } from '@perdure/plugin-api';
import type { BatchInput, Invocation } from './batch-input.js';
import { resolveReferences } from './reference.js';

export interface BatchReport {
  readonly status: 'complete' | 'partial_failure' | 'failed';
  /** In the order of the invocations. */
  readonly results: readonly BatchResult[];
  /** Positions of the invocations that were not completed. */
  readonly failed_indices: readonly number[];
}

export interface BatchResult {
  readonly id: string;
  readonly tool: string;
  /** `skipped` when what it refers to is not there. */
  readonly status: SettlementStatus | 'skipped';
  readonly output?: JsonValue;
  readonly artifact?: ArtifactReference;
  readonly files?: readonly FilePart[];
  readonly failure?: Failure;
}

/** Makes the calls step by step. An invocation that fails stops none but those that refer to its result. */
export async function runBatch(
  { invocations, max_concurrency: concurrency }: BatchInput,
  calls: ScopedInvoker,
  signal: AbortSignal,
): Promise<BatchReport> {
  const results = new Map<number, BatchResult>();
  const numbered = invocations.map((invocation, index) => ({ ...invocation, index, id: invocation.id ?? `${index}` }));
  const outputOf = (id: string): JsonValue | undefined => {
    const of = numbered.find((invocation) => invocation.id === id);
    return of === undefined ? undefined : results.get(of.index)?.output;
  };
  const run = async (invocation: (typeof numbered)[number]): Promise<void> => {
    signal.throwIfAborted();
    results.set(invocation.index, await invoke(invocation, outputOf, calls));
  };
  const steps = [...new Set(numbered.map(({ step }) => step))].toSorted((a, b) => a - b);
  for (const step of steps) {
    const due = numbered.filter((invocation) => invocation.step === step);
    const isReading = due.every(({ tool }) => calls.effectOf(tool) === 'read');
    await inLanes(due, isReading ? concurrency : 1, run);
  }
  const ordered = numbered.map(
    ({ index, id, tool }): BatchResult => results.get(index) ?? { id, tool, status: 'skipped' },
  );
  const failed = ordered.flatMap(({ status }, index) => (status === 'completed' ? [] : [index]));
  const status = failed.length === 0 ? 'complete' : failed.length === ordered.length ? 'failed' : 'partial_failure';
  return { status, results: ordered, failed_indices: failed };
}

async function invoke(
  { id, tool, args }: Invocation & { readonly id: string },
  outputOf: (id: string) => JsonValue | undefined,
  calls: ScopedInvoker,
): Promise<BatchResult> {
  let input: JsonValue;
  try {
    input = resolveReferences(args as JsonValue, outputOf);
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { id, tool, status: 'skipped', failure: { code: 'reference_missing', message: error.message } };
  }
  const { status, output, artifact, files, failure } = await calls.call(tool, input);
  return {
    id,
    tool,
    status,
    ...(output === undefined ? {} : { output }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(files === undefined ? {} : { files }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Runs work on items in their order, so many at a time. The first error ends it when what runs has ended. */
async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(lanes, items.length) }, lane));
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
