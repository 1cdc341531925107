import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { PerdureError, reasonOf } from '@perdure/plugin-api';
import type { Output } from './output.js';

/** Where a command writes what it was asked for. */
export interface Target {
  line(text: string): Promise<void>;
  /** Whether nobody reads any more. */
  readonly isClosed: boolean;
  close(): Promise<void>;
}

/** A file that is made anew, or standard output. What goes wrong with the file is PERDURE_INPUT_INVALID of `--out`. */
export function openTarget(file: string | undefined, output: Output): Target {
  if (file === undefined) {
    return {
      line: (text) => output.line(text),
      get isClosed() {
        return output.closed.aborted;
      },
      close: () => Promise.resolve(),
    };
  }
  const stream = createWriteStream(file, { mode: 0o600 });
  let failure: PerdureError | undefined;
  stream.on('error', (cause) => {
    failure ??= new PerdureError('PERDURE_INPUT_INVALID', { field: '--out', reason: reasonOf(cause) }, { cause });
  });
  const refuseFailed = (): void => {
    if (failure !== undefined) throw failure;
  };
  return {
    async line(text) {
      refuseFailed();
      if (!stream.write(`${text}\n`)) await once(stream, 'drain').catch(() => undefined);
      refuseFailed();
    },
    isClosed: false,
    async close() {
      refuseFailed();
      await new Promise<void>((resolve) => {
        stream.once('close', resolve);
        stream.end();
      });
      refuseFailed();
    },
  };
}
