import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noUsage, type EventEnvelopeV1, type JsonValue } from '@perdure/events';
import type { TurnResult } from '@perdure/plugin-api';
import { fakeScreen } from '../terminal/fake-stream.fixture.js';
import { TerminalReporter } from './terminal-reporter.js';
import type { TurnEnd } from './turn-reporter.js';

const commands = { approve: 'perdure approve s', answer: 'perdure answer s' };

const event = (type: string, payload: Record<string, JsonValue>): EventEnvelopeV1 => ({ version: 1, type, payload });
const usage = { ...noUsage, inputTokens: 1234, outputTokens: 56, totalTokens: 1290 };
const result: TurnResult = { success: true, status: 'completed', text: '', usage, turnId: 't', runId: 'r' };
const end: TurnEnd = { session: 's', result, denied: [], next: 'perdure run "…" --session s', exitCode: 0 };
const failure = { type: 'PERDURE_TOOL_NOBODY_TO_ASK', message: 'there is nobody to ask' };

/** A turn with a call that is done and one that is denied. */
async function play(reporter: TerminalReporter): Promise<void> {
  await reporter.event(event('turn_start', { turn: 1 }), undefined);
  await reporter.event(event('text_delta', { text: 'Let me ' }), undefined);
  await reporter.event(event('text_delta', { text: 'look.' }), undefined);
  await reporter.event(event('tool_start', { id: 'a', name: 'read' }), undefined);
  await reporter.event(event('tool_input_delta', { id: 'a', delta: '{"file_path":"a.txt"}' }), undefined);
  await reporter.event(
    event('tool_execution_start', { id: 'a', name: 'read', args: { file_path: 'a.txt' } }),
    undefined,
  );
  await reporter.event(event('tool_end', { id: 'a', name: 'read', status: 'completed' }), undefined);
  const call = { callId: 'b', tool: 'write', reason: failure.message, code: failure.type, rule: 'write(it is)' };
  await reporter.event(event('permission_denied', { tool_id: 'b', tool_name: 'write', args: { path: 'b' } }), call);
  await reporter.event(event('tool_end', { id: 'b', name: 'write', status: 'denied', error_kind: failure }), undefined);
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('a turn in a pipe', () => {
  test('is the answer on one side and plain lines on the other', async () => {
    const { screen, out, error } = fakeScreen(false);
    const reporter = new TerminalReporter(screen, commands);
    await play(reporter);
    await vi.advanceTimersByTimeAsync(1_000);
    await reporter.end(end);
    expect(out.text).toBe('Let me look.\n');
    expect(error.text.split('\n')).toEqual([
      '[completed] read a.txt',
      '[denied] write b: there is nobody to ask',
      "  to allow it: --allow 'write(it is)'",
      'tokens: 1,234 in, 56 out',
      '',
    ]);
  });

  test('keeps text to the letter', async () => {
    const { screen, out } = fakeScreen(false);
    await new TerminalReporter(screen, commands).event(event('text_delta', { text: 'a\u001b[2Jb\r\n' }), undefined);
    expect(out.text).toBe('a\u001b[2Jb\r\n');
  });
});

describe('a turn on a terminal', () => {
  test('has text and lines each in their place, colored', async () => {
    const { screen, shown } = fakeScreen(true);
    await play(new TerminalReporter(screen, commands));
    expect(shown()).toBe(
      [
        'Let me look.',
        '\u001b[32m✓\u001b[39m read a.txt',
        '\u001b[31m✗\u001b[39m write b: there is nobody to ask',
        "  to allow it: --allow 'write(it is)'",
        '',
      ].join('\n'),
    );
  });

  test('shows a spinner while it waits, and takes it away before anything else', async () => {
    const { screen, error, out, shown } = fakeScreen(true, { NO_COLOR: '1' });
    const reporter = new TerminalReporter(screen, commands);
    await reporter.event(event('turn_start', { turn: 1 }), undefined);
    expect(shown()).toBe('');
    await vi.advanceTimersByTimeAsync(250);
    expect(error.text).toBe('\r\u001b[2K⠋ thinking\r\u001b[2K⠙ thinking');
    await reporter.event(event('text_delta', { text: 'So.' }), undefined);
    expect(shown().endsWith('\r\u001b[2KSo.')).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(out.text).toBe('So.');
    expect(shown().endsWith('So.')).toBe(true);
  });

  test('has no colors with NO_COLOR, and no spinner on a dumb one', async () => {
    const plain = fakeScreen(true, { NO_COLOR: '1' });
    await play(new TerminalReporter(plain.screen, commands));
    expect(plain.shown()).not.toContain('\u001b');
    const dumb = fakeScreen(true, { TERM: 'dumb' });
    await new TerminalReporter(dumb.screen, commands).event(event('turn_start', {}), undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(dumb.shown()).toBe('');
  });

  test('is safe from what models and tools write', async () => {
    const { screen, shown } = fakeScreen(true, { NO_COLOR: '1' });
    const reporter = new TerminalReporter(screen, commands);
    await reporter.event(event('text_delta', { text: 'a\u001b]0;title\u0007b\u202e' }), undefined);
    await reporter.event(
      event('tool_execution_start', { id: 'c', name: 'x\u001b[2J', args: { a: 'b\nc' } }),
      undefined,
    );
    await reporter.event(event('tool_end', { id: 'c', name: 'x', status: 'completed' }), undefined);
    expect(shown()).toBe('a\\x1b]0;title\\x07b\\u202e\n✓ x\\x1b[2J b ⏎ c\n');
  });

  test('says how it ended, and how to go on', async () => {
    const { screen, shown } = fakeScreen(true, { NO_COLOR: '1' });
    const error = { code: 'PERDURE_STORE_FULL', message: 'The store has no room left.' };
    const suspended: TurnResult = { ...result, success: false, status: 'suspended', error };
    await new TerminalReporter(screen, commands).end({
      ...end,
      result: suspended,
      resume: 'perdure resume s',
      exitCode: 5,
    });
    expect(shown().split('\n')).toEqual([
      'tokens: 1,234 in, 56 out',
      'unfinished: The store has no room left. (PERDURE_STORE_FULL)',
      '  Make room on the disk of the store.',
      'to go on: perdure resume s',
      '',
    ]);
  });
});
