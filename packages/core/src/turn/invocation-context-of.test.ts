import { noUsage } from '@perdure/events';
import { expect, test } from 'vitest';
import { systemHostEnv } from '../host/system-host-env.js';
import { Redaction } from '../secrets/redaction.js';
import { SecretRegistry } from '../secrets/secret-registry.js';
import { evolve } from '../session/evolve.js';
import { initialState } from '../session/session-state.js';
import { invocationContextOf } from './invocation-context-of.js';

test('what a call may know is frozen at the state that it began with, its signal is the caller’s [A15]', () => {
  const prompt = { promptId: 'p', turnId: 't', messageId: 'p', mode: 'turn' as const, parts: [] };
  const place = { revision: 0, time: 1 };
  const accepted = evolve(initialState, 'PromptAccepted', prompt, place);
  const running = evolve(accepted, 'RunStarted', { runId: 'r', turnId: 't', deciderVersion: 2 }, place);
  const redaction = new Redaction(new SecretRegistry({}), []);
  const work = { key: { id: 's' }, env: systemHostEnv(), redaction, logger: { log: () => undefined } };
  const controller = new AbortController();
  const context = invocationContextOf(work, running, controller.signal);
  expect(context).toMatchObject({ sessionId: 's', turnId: 't', runId: 'r' });
  expect(() => Object.assign(context, { runId: 'another' })).toThrow(TypeError);
  const end = { runId: 'r', turnId: 't', status: 'completed' as const, steps: 0, usage: noUsage };
  evolve(running, 'RunEnded', end, place);
  expect(context.runId).toBe('r');
  controller.abort();
  expect(context.signal.aborted).toBe(true);
});
