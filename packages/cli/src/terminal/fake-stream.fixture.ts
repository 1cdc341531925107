import { PassThrough, Writable } from 'node:stream';
import { Screen } from './screen.js';

/** A stream that keeps what it is given, and says that it is a terminal when it should be one. */
export class FakeStream extends Writable {
  text = '';
  readonly columns = 60;

  constructor(
    readonly isTTY: boolean,
    /** Told of every piece, in order with those of other streams. */
    private readonly onText: (text: string) => void = () => undefined,
  ) {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _: BufferEncoding, done: () => void): void {
    this.text += chunk;
    this.onText(chunk);
    done();
  }
}

/** A screen whose outputs are one terminal, or two pipes; `shown` has what a person would see, as it was written. */
export function fakeScreen(isTerminal: boolean, environment: Readonly<Record<string, string>> = {}) {
  let shown = '';
  const keep = (text: string): void => {
    shown += text;
  };
  const out = new FakeStream(isTerminal, keep);
  const error = new FakeStream(isTerminal, keep);
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const screen = new Screen({ input, out, error }, { environment, color: true });
  return { screen, out, error, shown: () => shown };
}
