import type { KillPoint, Script } from '@perdure/testing';
import type { Agent, ContextOptions, Session } from '@perdure/plugin-api';
import { changesInStep } from './changes-scenario.js';
import { forking } from './fork-scenario.js';
import { checkFiles, files } from './attachments-scenario.js';
import { compaction } from './compaction-scenario.js';
import { importing } from './exchange-scenario.js';
import { delegating } from './delegation-scenario.js';
import { answering, asking, questioning } from './questions-scenario.js';
import { puttingAway } from './sessions-scenario.js';

/** A piece of work that can be driven again from its beginning: what is done already is not done twice. */
export interface Scenario {
  readonly name: string;
  readonly script: Script;
  /** It pays once and mails once: what came of both is looked at by the contracts of these tools. */
  readonly isByContract?: true;
  /** A model is asked for titles. */
  readonly titles?: true;
  /** Other sessions that it makes beside `s`: the types of their facts count as seen. */
  readonly others?: readonly string[];
  /** The kill points that are its own, where the others are those of other scenarios too. */
  readonly isOwnPoint?: (point: KillPoint) => boolean;
  /** How long its requests may get. */
  readonly context?: ContextOptions;
  /** Makes the session, where it is not made by its first use. */
  prepare?(agent: Agent): Promise<Session>;
  drive(session: Session, agent: Agent): Promise<void>;
}

const call = (name: string, key: string) => ({ name, input: { key }, providerCallId: 'call_0' });

/** One step for each effect contract, two calls together where that is allowed. */
const everyContract: Scenario = {
  name: 'every effect contract',
  isByContract: true,
  script: {
    rules: [
      {
        when: { toolResults: 0 },
        answer: {
          text: 'first I read',
          deltas: 3,
          calls: [call('peek', 'a'), { ...call('peek', 'b'), providerCallId: 'call_1' }],
        },
      },
      { when: { toolResults: 2 }, answer: { calls: [call('put', 'c')] } },
      { when: { toolResults: 3 }, answer: { reasoning: 'now pay', calls: [call('pay', 'd')] } },
      { when: { toolResults: 4 }, answer: { calls: [call('mail', 'e')] } },
      { answer: { text: 'everything is done', deltas: 5 } },
    ],
  },
  async drive(session) {
    const turn = await session.prompt({ query: 'do it all', promptId: 'p-1' });
    await session.resume();
    await turn.finished;
  },
};

/**
 * A failed model call, a large output, a change of model, a frozen system, labels, compaction, queued and cancelled
 * prompts.
 */
const changes: Scenario = {
  name: 'changes between steps',
  script: {
    rules: [
      { when: { userTextContains: 'Summarise the conversation' }, answer: { text: 'the summary' } },
      {
        when: { userTextContains: 'fail first' },
        times: 1,
        answer: { error: { status: 500, message: 'out of order' } },
      },
      { when: { userTextContains: 'fail first', toolResults: 0 }, answer: { calls: [call('large', 'f')] } },
      { when: { userTextContains: 'cut' }, times: 1, answer: { text: 'this breaks off', deltas: 4, cutAfter: 3 } },
      { answer: { text: 'well', deltas: 2 } },
    ],
  },
  async drive(session) {
    const first = await session.prompt({ query: 'fail first', promptId: 'p-1' });
    await session.resume();
    await first.finished;
    await (
      await session.set({ model: 'second' })
    ).finished;
    await (
      await session.snapshot()
    ).finished;
    const cut = await session.prompt({ query: 'cut', promptId: 'p-2' });
    const queued = await session.prompt({ query: 'queued', promptId: 'p-3', whenBusy: 'queue' });
    await cut.finished;
    await queued.finished;
    await (
      await session.compact()
    ).finished;
    const last = await session.prompt({ query: 'and last', promptId: 'p-4' });
    await last.finished;
  },
};

/** A turn that is stopped while its tool runs, with a prompt that waits behind it. */
const stopping: Scenario = {
  name: 'a stop',
  script: {
    rules: [
      {
        when: { userTextContains: 'wait', toolResults: 0 },
        answer: { calls: [call('linger', 'g'), { ...call('linger', 'h'), providerCallId: 'call_1' }] },
      },
      { answer: { text: 'afterwards' } },
    ],
  },
  async drive(session) {
    const turn = await session.prompt({ query: 'wait', promptId: 'p-1' });
    const behind = await session.prompt({ query: 'behind', promptId: 'p-2', whenBusy: 'queue' });
    await session.resume();
    await behind.stop();
    // However long its store takes: a call that was not begun would leave other facts.
    for await (const { type } of session.events()) if (type === 'tool_execution_start') break;
    await turn.stop('enough');
    await turn.finished;
    const next = await session.prompt({ query: 'next', promptId: 'p-3' });
    await next.finished;
  },
};

/**
 * A hook that is asked, a budget that warns and refuses, another session that calls, and a wish to leave the node. The
 * tool gives an image.
 */
const governed: Scenario = {
  name: 'budgets, hooks and the cluster',
  script: {
    rules: [
      { when: { userTextContains: 'spend', toolResults: 0 }, answer: { calls: [call('camera', 'i')] } },
      { answer: { text: 'spent' } },
    ],
  },
  async drive(session) {
    session.registerHook('look', 'pre_tool_use', null, null, () => Promise.resolve(null));
    session.setBudgetGuard({
      checkBeforeLlm: () => ({ decision: 'soft', resource: 'llm_tokens', consumed: 8, limit: 10 }),
    });
    await session.emit({ type: 'peer_invocation', from_session_id: 'another' });
    const first = await session.prompt({ query: 'spend', promptId: 'p-1' });
    await session.resume();
    await first.finished;
    session.setBudgetGuard({
      checkBeforeLlm: () => ({ decision: 'deny', resource: 'llm_tokens', reason: 'nothing is left' }),
    });
    const refused = await session.prompt({ query: 'too much', promptId: 'p-2' });
    await refused.finished;
    session.setBudgetGuard(null);
    await session.emit({ type: 'passivation_requested', reason: 'manual' });
    const last = await session.prompt({ query: 'spend again', promptId: 'p-3' });
    const again = await session.resume();
    await again?.finished;
    await last.finished;
    await checkFiles(session, 2);
  },
};

/** Two calls that a person is asked about, when the session has been let go; the first answers do not fit. */
const approving: Scenario = {
  name: 'approvals',
  script: {
    rules: [
      {
        when: { userTextContains: 'may I', toolResults: 0 },
        answer: { calls: [call('asked', 'j'), { ...call('asked', 'k'), providerCallId: 'call_1' }] },
      },
      { answer: { text: 'as you say' } },
    ],
  },
  async drive(session) {
    const left = (await session.info()).owner?.epoch;
    const turn = await session.prompt({ query: 'may I', promptId: 'p-1' });
    await session.resume();
    let isOver = false;
    void turn.finished.then(() => (isOver = true));
    // A session that waits is released; one that waited when its owner was killed is answered all the same.
    const isHeld = async (): Promise<boolean> => ![undefined, left].includes((await session.info()).owner?.epoch);
    while (!isOver && (await isHeld())) await new Promise((resolve) => setTimeout(resolve, 5));
    await answering(session, turn.finished, { decision: 'allow' });
  },
};

/** A call that makes others as its parts, one of each contract. */
const nested: Scenario = {
  name: 'parts of a call',
  isByContract: true,
  script: {
    rules: [
      { when: { toolResults: 0 }, answer: { text: 'all at once', calls: [call('several', 'l')] } },
      { answer: { text: 'all is done' } },
    ],
  },
  async drive(session) {
    const turn = await session.prompt({ query: 'do several things', promptId: 'p-1' });
    await session.resume();
    await turn.finished;
  },
};

/** A run that the host named and that begins with files, and a command that changes what models see. */
const commanded: Scenario = {
  name: 'commands and named runs',
  script: { rules: [{ answer: { text: 'well', deltas: 2 } }] },
  async drive(session) {
    const first = await session.prompt({ query: 'go', runId: 'run-1', attachments: files });
    await session.resume();
    await first.finished;
    await session.send({ query: '/clear', promptId: 'c-1' });
    const last = await session.prompt({ query: 'and last', runId: 'run-2' });
    await session.resume();
    await last.finished;
    await checkFiles(session, 2);
  },
};

export const scenarios: readonly Scenario[] = [
  everyContract,
  changes,
  stopping,
  governed,
  approving,
  nested,
  commanded,
  questioning,
  asking,
  forking,
  compaction,
  importing,
  delegating,
  puttingAway,
  changesInStep,
];
