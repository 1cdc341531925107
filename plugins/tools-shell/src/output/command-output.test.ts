import type { SandboxExit } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import type { CommandResult } from '../command/run-command.js';
import { commandOutput } from './command-output.js';

const empty = { head: Buffer.alloc(0), tail: Buffer.alloc(0), droppedBytes: 0 };
function outputOf(exit: SandboxExit, more: Partial<CommandResult> = {}) {
  return commandOutput({ endedBy: 'itself', exit, stdout: empty, stderr: empty, durationMs: 5, ...more });
}

test.each([
  [
    { code: 0, signal: null },
    { reason: 'exited', code: 0 },
  ],
  [
    { code: 2, signal: null },
    { reason: 'exited', code: 2 },
  ],
  [
    { code: 143, signal: null },
    { reason: 'exited', code: 143, signal: 'SIGTERM' },
  ],
  [
    { code: null, signal: 'SIGSEGV' },
    { reason: 'signal', signal: 'SIGSEGV' },
  ],
  [
    { code: 152, signal: null },
    { reason: 'limit', limit: 'cpu_seconds', code: 152 },
  ],
  [
    { code: null, signal: 'SIGXFSZ' },
    { reason: 'limit', limit: 'file_bytes' },
  ],
])('an end with %j is told', (exit, told) => {
  expect(outputOf(exit)).toEqual({ exit: told, duration_ms: 5, stdout: '', stderr: '' });
});

test('who ended a command from outside counts more than how it then ended', () => {
  const exit = { code: null, signal: 'SIGKILL' };
  expect(outputOf(exit, { endedBy: 'timeout' })).toMatchObject({ exit: { reason: 'timed_out' } });
  expect(outputOf(exit, { endedBy: 'stop' })).toMatchObject({ exit: { reason: 'stopped' } });
});

test('a cut is told in bytes, and no character is cut in two', () => {
  const [head, tail] = [Buffer.from('aä').subarray(0, 2), Buffer.from('€z').subarray(1)];
  const output = outputOf({ code: 0, signal: null }, { stdout: { head, tail, droppedBytes: 7 } });
  expect(output).toMatchObject({ stdout: 'a', stdout_tail: 'z', stdout_dropped_bytes: 7, stderr: '' });
});
