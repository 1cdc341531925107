import type { Logger } from '@perdure/plugin-api';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Writes reports from a level on to the standard error stream, a JSON line each. */
export function consoleLogger(from: (typeof LEVELS)[number] = 'warn'): Logger {
  return {
    log: (level, message, data) => {
      if (LEVELS.indexOf(level) < LEVELS.indexOf(from)) return;
      process.stderr.write(`${JSON.stringify({ level, message, ...data })}\n`);
    },
  };
}
