import { describe, expect, test } from 'vitest';
import { JsonText } from './json-text.js';
import { runnable, type RunnableRow } from './runnable.js';

const key = { id: 's' };
const node = { node: 'a', incarnation: 'i' };

/** The row after facts, one for each millisecond. */
function rowAfter(...facts: readonly (readonly [type: string, payload: object])[]): RunnableRow | undefined {
  let row: RunnableRow | undefined;
  for (const [index, [type, payload]] of facts.entries()) {
    expect(runnable.types).toContain(type);
    const text = JSON.stringify(payload);
    const json = new JsonText(text);
    const fact = {
      key,
      type,
      payload,
      json,
      bytes: text.length,
      revision: index,
      position: String(index),
      time: index,
    };
    row = runnable.evolve(row, fact, '_.s');
  }
  return row;
}

const created = ['SessionCreated', { agentId: 'clerk' }] as const;
const prompted = (turnId: string) => ['PromptAccepted', { promptId: `p-${turnId}`, turnId, mode: 'turn' }] as const;
const taken = (epoch: number) => ['OwnershipTaken', { ...node, epoch }] as const;
const asked = (callId: string, expiresAt?: number) => ['ApprovalRequested', { callId, expiresAt }] as const;
const answered = (callId: string) => ['ApprovalResolved', { callId, decision: 'allow' }] as const;
const ended = (status: string) => ['RunEnded', { turnId: 't', status }] as const;
const released = ['OwnershipReleased', { epoch: 1 }] as const;
const begun = [created, prompted('t'), taken(1)] as const;
const waiting = [...begun, asked('c', 900), asked('d', 500), ended('handed-over'), released] as const;

describe('the row of a session that is to be erased', () => {
  test('says so until somebody removes it, also where only the last fact is left', () => {
    const asked = rowAfter(created, ['EraseRequested', { cascade: true, reason: 'she asked' }]);
    expect(asked).toMatchObject({ agent: 'clerk', erasing: { cascade: true, reason: 'she asked' } });
    const erased = ['SessionErased', { agentId: 'clerk' }] as const;
    const gone = rowAfter(...begun, ['EraseRequested', { cascade: true }], erased);
    expect(gone).toMatchObject({ openTurns: [], owner: null, erasing: { cascade: true, reason: null } });
    expect(rowAfter(erased)).toMatchObject({ agent: 'clerk', erasing: { cascade: false, reason: null } });
  });
});

describe('the rows by which orphans and deadlines are found', () => {
  test('a turn is runnable from its prompt to its end, and belongs to whoever took it', () => {
    expect(rowAfter(created, prompted('t'))).toMatchObject({ agent: 'clerk', runnableSince: 1, owner: null });
    expect(rowAfter(...begun)).toMatchObject({ runnableSince: 1, owner: { ...node, epoch: 1 } });
    expect(rowAfter(...begun, ended('completed'))).toMatchObject({ runnableSince: null, openTurns: [], prompts: [] });
  });

  test('a session that waits is not runnable, and has the deadline of the first request that expires', () => {
    expect(rowAfter(...begun, asked('c'))).toMatchObject({ runnableSince: null, nextDeadline: null });
    expect(rowAfter(...waiting)).toMatchObject({ runnableSince: null, nextDeadline: 500, owner: null, leftBy: null });
  });

  test('an answer makes it runnable, until it is released again with what is left', () => {
    const one = rowAfter(...waiting, answered('d'));
    expect(one).toMatchObject({ runnableSince: 7, nextDeadline: 900 });
    const left = rowAfter(...waiting, answered('d'), taken(2), ended('handed-over'), released);
    expect(left).toMatchObject({ runnableSince: null, nextDeadline: 900 });
    expect(rowAfter(...waiting, answered('d'), answered('c'))).toMatchObject({ runnableSince: 7, nextDeadline: null });
  });

  test('a stop makes it runnable; a prompt or a change does not', () => {
    expect(rowAfter(...waiting, ['StopRequested', { turnId: 't' }])?.runnableSince).toBe(7);
    expect(rowAfter(...waiting, ['StopRequested', { turnId: 'other' }])?.runnableSince).toBeNull();
    const more = [prompted('next'), ['ChangeRequested', { changeId: 'x' }]] as const;
    expect(rowAfter(...waiting, ...more)?.runnableSince).toBeNull();
    const over = rowAfter(...waiting, ...more, answered('c'), answered('d'), taken(2), ended('completed'));
    expect(over).toMatchObject({ runnableSince: 9, nextDeadline: null, openTurns: ['next'], changes: ['x'] });
  });

  test('a run that is handed over is for others than its node, until something comes', () => {
    const left = [...begun, ended('handed-over')] as const;
    expect(rowAfter(...left)).toMatchObject({ runnableSince: 1, owner: null, leftBy: { node: 'a' } });
    expect(rowAfter(...left, ['StopRequested', { turnId: 't' }])?.leftBy).toBeNull();
  });

  test('calls beside the turn are not waited for', () => {
    const beside = ['ApprovalRequested', { callId: 'h', origin: 'host', expiresAt: 5 }] as const;
    expect(rowAfter(created, beside, prompted('t'))).toMatchObject({ runnableSince: 2, nextDeadline: null });
  });

  test('a turn whose prompts were all taken back before it began is over', () => {
    const cancelled = ['PromptCancelled', { promptId: 'p-next' }] as const;
    expect(rowAfter(...begun, prompted('next'), cancelled)?.openTurns).toEqual(['t']);
    expect(rowAfter(created, prompted('next'), cancelled)).toMatchObject({ runnableSince: null, openTurns: [] });
  });
});
