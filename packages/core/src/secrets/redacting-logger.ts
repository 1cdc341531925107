import type { Logger } from '@perdure/plugin-api';
import type { Redaction } from './redaction.js';

/** A logger that reports nothing that must not be shown, whatever an error says. */
export function redactingLogger(logger: Logger, redaction: () => Redaction): Logger {
  return {
    log: (level, message, data) => logger.log(level, redaction().redactText(message), redaction().redact(data)),
  };
}
