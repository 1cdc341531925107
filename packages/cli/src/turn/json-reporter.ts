import { jsonText } from '../terminal/json-text.js';
import type { Output } from '../terminal/output.js';
import type { TurnReporter } from './turn-reporter.js';

/** One envelope per line, and `{"result": …}` as the last line. */
export function jsonReporter(out: Output): TurnReporter {
  return {
    event: (event) => out.line(jsonText(event)),
    end: ({ session, result, denied, resume, exitCode }) =>
      out.line(
        jsonText({
          result: { session, ...result, denied, ...(resume === undefined ? {} : { resume }), exitCode },
        }),
      ),
  };
}
