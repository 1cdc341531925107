import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { PayloadOf, RecordedFact } from '@perdure/events';
import type {
  AppendOptions,
  AppendResult,
  Message,
  NewFact,
  ReadOptions,
  ReadPage,
  Session,
} from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import {
  contextTooLong,
  ScriptedModel,
  type ScriptedAnswer,
  type ScriptMessage,
  type ScriptRequest,
} from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

/** Model calls of the whole session. */
const STEPS = Number(process.env['PERDURE_LONG_SESSION_STEPS'] ?? 5_000);
const TURNS = 5;
const WINDOW = 6_000;

/** Counts what a session costs its store. */
class CountingStore extends MemoryEventStore {
  facts = 0;
  bytes = 0;
  reads = 0;

  override append(stream: string, facts: readonly NewFact[], options: AppendOptions): Promise<AppendResult> {
    if (stream.startsWith('session-')) {
      this.facts += facts.length;
      for (const { payload, metadata } of facts) this.bytes += payload.length + metadata.length;
    }
    return super.append(stream, facts, options);
  }

  override read(stream: string, options?: ReadOptions): Promise<ReadPage> {
    this.reads++;
    return super.read(stream, options);
  }
}

interface Cost {
  readonly facts: number;
  readonly bytes: number;
  readonly reads: number;
}

type Part = Readonly<Record<string, unknown>>;
const partsOf = ({ content }: ScriptMessage): readonly Part[] => (Array.isArray(content) ? (content as Part[]) : []);
const idsOf = (messages: readonly ScriptMessage[], type: string): string[] =>
  messages.flatMap(partsOf).flatMap((part) => (part['type'] === type ? [String(part['toolCallId'])] : []));

/** A model that counts its prompts by its own measure, refuses those above its window, and remembers what it saw. */
class CountingModel {
  readonly costs: Cost[] = [];
  readonly lost: string[] = [];
  longest = 0;
  refusals = 0;
  summaries = 0;
  rebuilds = 0;
  private turn = 0;
  private left = 0;
  private window = WINDOW;
  private previous: readonly ScriptMessage[] = [];
  private asked: string | undefined;

  constructor(private readonly store: CountingStore) {}

  readonly model = new ScriptedModel((request) => this.answer(request), { record: false });

  request(): string {
    return `request ${this.turn}: count on and forget nothing`;
  }

  begin(turn: number, steps: number): void {
    this.turn = turn;
    this.left = steps;
  }

  /** From the next prompt on that is as long, until it has refused one. */
  shrinkTo(tokens: number): void {
    this.window = tokens;
  }

  private answer({ messages, lastUserText }: ScriptRequest): ScriptedAnswer {
    // Another measure than the runtime's: it counts a third more.
    const tokens = Math.ceil(JSON.stringify(messages).length / 3);
    const usage = { inputTokens: tokens, outputTokens: 40 };
    if (tokens > this.window) {
      this.refusals++;
      this.window = WINDOW;
      return { error: contextTooLong };
    }
    this.longest = Math.max(this.longest, tokens);
    if (lastUserText.startsWith('Summarise')) {
      this.summaries++;
      return { text: `So far ${this.summaries} parts were counted.`, usage };
    }
    this.look(messages);
    const { facts, bytes, reads } = this.store;
    this.costs.push({ facts, bytes, reads });
    if (--this.left === 0) return { text: `turn ${this.turn} is done`, usage };
    this.asked = `key ${this.costs.length} ${'x'.repeat(200)}`;
    return { text: 'on', calls: [{ name: 'lookup', input: { key: this.asked } }], usage };
  }

  /** What a prompt must hold: the request of the turn, and every call beside its result. */
  private look(messages: readonly ScriptMessage[]): void {
    const step = this.costs.length;
    const texts = messages.filter(({ role }) => role === 'user').flatMap(partsOf);
    if (!texts.some(({ text }) => text === this.request())) this.lost.push(`step ${step}: the request`);
    if (idsOf(messages, 'tool-call').join() !== idsOf(messages, 'tool-result').join())
      this.lost.push(`step ${step}: a pair`);
    const results = JSON.stringify(messages.at(-1)?.content);
    if (this.asked !== undefined && !results.includes(this.asked)) this.lost.push(`step ${step}: the last result`);
    this.asked = undefined;
    // The system prompt is put before the others each time.
    const common = this.previous.slice(1);
    if (common.some((message, index) => messages[index + 1] !== message)) this.rebuilds++;
    this.previous = messages;
  }
}

/** What a step costs on average between two places. */
function costPerStep(costs: readonly Cost[], from: number, to: number): Cost {
  const [first, last] = [costs[from], costs[to]];
  const of = (member: keyof Cost): number => ((last?.[member] ?? 0) - (first?.[member] ?? 0)) / (to - from);
  return { facts: of('facts'), bytes: of('bytes'), reads: of('reads') };
}

async function allMessages(session: Session): Promise<readonly Message[]> {
  const all: Message[] = [];
  for (let beforeSequence: number | undefined; ;) {
    const page = await session.messages({ limit: 1_000, ...(beforeSequence === undefined ? {} : { beforeSequence }) });
    all.unshift(...page.items);
    if (!page.hasMore) return all;
    beforeSequence = page.items[0]?.sequence;
  }
}

async function factsOf(store: MemoryEventStore): Promise<readonly RecordedFact[]> {
  const all: RecordedFact[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const page: ReadPage = await store.read('session-_.s', { from, limit: 1_000 });
    all.push(...page.facts);
    from = page.next;
  }
  return all;
}

test(
  `${STEPS} steps keep in the window, cost the same each, and lose nothing [P11]`,
  { timeout: 120_000 },
  async () => {
    const store = new CountingStore();
    const counting = new CountingModel(store);
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const agent = runtime.agent({
      id: 'clerk',
      model: counting.model,
      instruction: 'Count.',
      tools: { lookup: lookupTool() },
      limits: { maxSteps: STEPS },
      context: { window: WINDOW },
    });
    const session = await agent.sessions.create({ sessionId: 's' });
    const endListening = session.subscribe(() => undefined);
    for (let turn = 0; turn < TURNS; turn++) {
      counting.begin(turn, STEPS / TURNS);
      // In the middle of the third turn the provider takes less than it said.
      if (turn === 2) counting.shrinkTo(Math.floor(WINDOW / 2));
      const result = await session.send(counting.request());
      expect(result).toMatchObject({ status: 'completed', text: `turn ${turn} is done` });
    }
    endListening();

    expect(counting.costs).toHaveLength(STEPS);
    expect(counting.lost).toEqual([]);
    expect(counting.longest).toBeLessThan(WINDOW);
    expect(counting.refusals).toBe(1);

    const facts = await factsOf(store);
    const of = <Payload>(type: string) =>
      facts.filter((fact) => fact.type === type).map(({ payload }) => JSON.parse(payload) as Payload);
    const compacted = of<PayloadOf<'HistoryCompacted'>>('HistoryCompacted');
    expect(compacted.filter(({ reason }) => reason === 'overflow')).toHaveLength(1);
    expect(compacted.length).toBeGreaterThan(STEPS / 50);
    expect(compacted.every(({ method }) => method === 'model')).toBe(true);
    expect(compacted.every(({ tokensBefore = 0, tokensAfter = 0 }) => tokensAfter < tokensBefore)).toBe(true);
    expect(counting.summaries).toBe(compacted.length);
    // What models are shown is made again at a compaction, and else only added to.
    expect(counting.rebuilds).toBe(compacted.length);

    const early = costPerStep(counting.costs, STEPS * 0.02, STEPS * 0.18);
    const late = costPerStep(counting.costs, STEPS * 0.82, STEPS * 0.98);
    for (const member of ['facts', 'bytes'] as const) {
      expect(late[member] / early[member], member).toBeGreaterThan(0.95);
      expect(late[member] / early[member], member).toBeLessThan(1.05);
    }
    expect(late.reads).toBeLessThan(0.1);

    const messages = await allMessages(session);
    expect(messages).toHaveLength(TURNS + STEPS + (STEPS - TURNS));
    const answers = messages.filter(({ role }) => role === 'assistant').length;
    expect(answers).toBe(STEPS);
    expect(of<PayloadOf<'ModelAnswered'>>('ModelAnswered').filter(({ purpose }) => purpose === 'step')).toHaveLength(
      STEPS,
    );
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  },
);
