import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FakeStream } from './fake-stream.fixture.js';
import { Output } from './output.js';

/** A stream that takes a piece when it is told to. */
function slowStream() {
  const waiting: ((error?: Error) => void)[] = [];
  const stream = new Writable({ highWaterMark: 4, write: (_chunk, _encoding, done) => void waiting.push(done) });
  return { stream, waiting };
}

describe('an output', () => {
  test('waits for a reader that is slow', async () => {
    const { stream, waiting } = slowStream();
    const output = new Output(stream);
    let isTaken = false;
    const writing = output.write('longer than four').then(() => (isTaken = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isTaken).toBe(false);
    waiting.shift()?.();
    await writing;
    expect(isTaken).toBe(true);
  });

  test('goes on without a reader that went away, and says that it did', async () => {
    const { stream, waiting } = slowStream();
    const output = new Output(stream);
    const writing = output.write('longer than four');
    waiting.shift()?.(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }));
    await writing;
    expect(output.closed.aborted).toBe(true);
    await output.write('more');
    await output.flush();
  });

  test('does not hide another failure', async () => {
    const { stream, waiting } = slowStream();
    const output = new Output(stream);
    const writing = output.write('longer than four');
    waiting.shift()?.(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    await writing;
    await expect(output.flush()).rejects.toThrow('no space');
  });

  test('knows whether it is at the beginning of a line', async () => {
    const output = new Output(new FakeStream(false));
    const seen: boolean[] = [];
    for (const text of ['', 'a', '', 'b\n']) {
      await output.write(text);
      seen.push(output.isAtLineStart);
    }
    expect(seen).toEqual([true, false, false, true]);
  });
});
