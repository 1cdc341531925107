import type { Output } from '../terminal/output.js';
import type { TurnReporter } from './turn-reporter.js';

/** One envelope per line, and `{"result": …}` as the last line. */
export function jsonReporter(out: Output): TurnReporter {
  return {
    event: (event) => out.line(JSON.stringify(event)),
    end: ({ session, result, denied, resume, exitCode }) =>
      out.line(
        JSON.stringify({
          result: { session, ...result, denied, ...(resume === undefined ? {} : { resume }), exitCode },
        }),
      ),
  };
}
