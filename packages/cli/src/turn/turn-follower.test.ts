import { afterEach, expect, test } from 'vitest';
import { EVENT_STORE, type EventStore, type LanguageModel, type Plugin, type Token } from '@perdure/plugin-api';
import { createRuntime, storeMemory, type PerdureRuntime } from '@perdure/runtime';
import { faultyEventStore, ScriptedModel, type StoreFault } from '@perdure/testing';
import type { CliContext } from '../cli-context.js';
import { fakeScreen } from '../terminal/fake-stream.fixture.js';
import { ScreenLogger } from '../terminal/screen-logger.js';
import { TurnFollower } from './turn-follower.js';

/** The memory stores, of which the event store fails. */
function failingStores(faults: readonly StoreFault[]): Plugin {
  const setup: Plugin['setup'] = (context) => {
    const provide = (token: Token<unknown>, value: unknown): void => {
      const isEvents = token.key === EVENT_STORE.key;
      context.provide(token, (isEvents ? faultyEventStore(value as EventStore, faults) : value) as never);
    };
    return storeMemory.setup({ ...context, provide } as never);
  };
  return { ...storeMemory, setup };
}

let runtime: PerdureRuntime | undefined;
afterEach(() => runtime?.dispose());

async function follow(model: LanguageModel, faults: readonly StoreFault[] = []) {
  const { screen, out, error } = fakeScreen(false);
  const logger = new ScreenLogger(screen, { json: false, debug: false });
  const plugins = [failingStores(faults)];
  runtime = await createRuntime({ plugins, logger: { log: () => undefined }, storePatienceMs: 500 });
  const agent = runtime.agent({ id: 'clerk', model });
  await agent.ready();
  const session = agent.session('.', { sessionId: 's' });
  const context: CliContext = { screen, logger, environment: {}, json: false };
  const ground = { runtime, tools: {}, session: 's', workspace: undefined };
  const follower = new TurnFollower(context, session, {
    ground,
    commands: { resume: 'RESUME', approve: 'perdure approve s', answer: 'perdure answer s', next: 'NEXT' },
  });
  const stream = session.stream('hello');
  const exitCode = await follower.follow({ events: stream, isEnd: () => false, finished: stream.finished });
  return { exitCode, out: out.text, error: error.text };
}

test('a turn that completes is exit code 0', async () => {
  const ended = await follow(new ScriptedModel([{ text: 'Hello.' }]));
  expect(ended).toEqual({ exitCode: 0, out: 'Hello.\n', error: 'tokens: 10 in, 5 out\n' });
});

test('a store that fails in the middle leaves the turn unfinished, with exit code 5 and the way on', async () => {
  // The prompt is stored and the run begins; what the model answers cannot be kept.
  const faults: StoreFault[] = [
    { verb: 'append', category: 'session', occurrence: 3, times: 1_000, fault: 'unavailable' },
  ];
  const { exitCode, error } = await follow(new ScriptedModel([{ text: 'Hello.' }]), faults);
  expect(exitCode).toBe(5);
  expect(error).toContain('unfinished: ');
  expect(error).toContain('(PERDURE_STORE_UNAVAILABLE)');
  expect(error).toContain('to go on: RESUME');
});

test('what keeps a turn from beginning is thrown', async () => {
  const broken: StoreFault[] = [
    { verb: 'append', category: 'session', occurrence: 1, times: 1_000, fault: 'unavailable' },
  ];
  await expect(follow(new ScriptedModel([]), broken)).rejects.toThrow(/store/i);
});
