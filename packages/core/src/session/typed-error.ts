import { isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';
import type { Redaction } from '../secrets/redaction.js';

/** An error as it may be told: one of ours as it is, any other as a fault of the runtime, without secrets. */
export function typedError(error: unknown, redaction: Redaction): PerdureError {
  if (isPerdureError(error)) return error;
  return new PerdureError('PERDURE_INTERNAL', { reason: redaction.redactText(reasonOf(error)) }, { cause: error });
}
