import {
  deterministicHostEnv,
  noCalls,
  type Asker,
  type EventStore,
  type Gate,
  type Hook,
  type HookOccurrence,
  type NewFact,
  type ToolCallRequest,
  type ToolContext,
} from '@perdure/plugin-api';
import { scriptByRound } from '../models/script.js';
import { ScriptedModel } from '../models/scripted-model.js';
import { journalFile, journalStore } from './journal-store.fixture.js';
import { killAt, recordKillPoints, type KillPlan, type KillPoint } from './kill-plan.js';
import { killingEventStore } from './killing-event-store.js';
import { killingAsker, killingGate, killingHook } from './killing-gates.js';
import { killingModel } from './killing-model.js';
import { killingTools } from './killing-tools.js';

/**
 * Goes once through every wrapper, and writes each effect to a journal as it happens. Arguments: the journal's path,
 * and a kill point as JSON or `record`; then the points go into the journal too, between the effects.
 */
const [journalPath = '', plannedPoint = 'record'] = process.argv.slice(2);
const write = journalFile(journalPath);
const plan = plannedPoint === 'record' ? recordingPlan() : killAt(JSON.parse(plannedPoint) as KillPoint);

function recordingPlan(): KillPlan {
  const recorder = recordKillPoints();
  return {
    pass(passing) {
      recorder.pass(passing);
      write(`point ${JSON.stringify(recorder.passed.at(-1))}`);
    },
  };
}

const { idGenerator } = deterministicHostEnv();
const fact = (type: string): NewFact => ({ id: idGenerator.next('fact'), type, payload: '{}', metadata: '{}' });

const store: EventStore = killingEventStore(journalStore(write), plan);
const script = scriptByRound([
  { text: 'Let me see', calls: [{ name: 'add', input: {} }] },
  { text: 'done', deltas: 1 },
]);
const model = killingModel(new ScriptedModel(script), plan);
const tools = killingTools(
  {
    add: {
      inputSchema: {},
      effect: 'reconcile',
      async execute() {
        write('added');
        return 3;
      },
      async reconcile() {
        write('reconciled');
        return { status: 'voided' };
      },
    },
  },
  plan,
);
const rule: Gate = { id: 'rule', kind: 'rule', digest: 'd', decide: () => allowed('rule') };
const remote: Gate = { id: 'remote', kind: 'waiting', decide: async () => allowed('remote') };
const before: Hook = {
  id: 'before',
  event: 'pre_tool_use',
  async handler() {
    write('hook before');
    return { action: 'continue' };
  },
};
const after: Hook = { id: 'after', event: 'post_tool_use', handler: async () => write('hook after') };
const asker: Asker = {
  async ask() {
    write('asked');
    return 'allow';
  },
};

function allowed(gate: string): { readonly decision: 'allow' } {
  write(`gate ${gate}`);
  return { decision: 'allow' };
}

const call: ToolCallRequest = {
  callId: 'c1',
  tool: 'add',
  input: {},
  effect: 'reconcile',
  origin: 'model',
  sessionId: 's1',
  turnId: 't1',
  workspace: undefined,
  subjects: [],
};
const { signal } = new AbortController();
const context: ToolContext = {
  toolCallId: 'c1',
  abortSignal: signal,
  idempotencyKey: 'k1',
  sessionId: 's1',
  calls: noCalls,
};
const user = { role: 'user', content: [{ type: 'text', text: 'go' }] };
const result = { type: 'tool-result', toolCallId: 'call_0', toolName: 'add', output: { type: 'json', value: 3 } };

async function streamAnswer(): Promise<void> {
  const { stream } = (await model.doStream({ prompt: [user] } as never)) as {
    stream: AsyncIterable<{ type: string; delta?: string }>;
  };
  for await (const part of stream) if (part.delta !== undefined) write(`delta ${part.delta}`);
  write('answered');
}

async function decideCall(): Promise<void> {
  for (const gate of [rule, remote]) await killingGate(gate, plan).decide(call, signal);
  await killingAsker(asker, plan).ask(call, { decision: 'ask' }, signal);
  for (const hook of [before, after]) {
    await killingHook(hook, plan).handler?.({ event_type: hook.event, payload: {} } as HookOccurrence, signal);
  }
}

write('started');
process.once('exit', () => write('exit'));
try {
  const session = 'session-_.s1';
  await store.append(session, [fact('PromptAccepted')], { expected: 'none' });
  await streamAnswer();
  await store.append('draft-_.s1', [fact('DraftDelta')], { expected: 'none' });
  await decideCall();
  await store.append(session, [fact('ModelAnswered'), fact('ToolCallStarted')], { expected: 0 });
  await store.append(session, [fact('ToolCallStarted')], { expected: 0 });
  await tools['add']?.execute?.({} as never, context);
  await tools['add']?.reconcile?.({} as never, context);
  await store.append(session, [fact('ToolCallSettled')], { expected: 2 });
  const settled = [user, { role: 'tool', content: [result] }];
  const { content } = (await model.doGenerate({ prompt: settled } as never)) as { content: [{ text: string }] };
  write(`answered ${content[0].text}`);
  await store.append(session, [fact('ModelAnswered')], { expected: 3 });
  await store.truncate('draft-_.s1', 1);
} finally {
  write('finally');
}
