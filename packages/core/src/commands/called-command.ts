import { PerdureError } from '@perdure/plugin-api';
import type { CheckedPrompt } from '../session/prompt-input.js';

/** A prompt that is a command. */
export interface CalledCommand {
  readonly name: string;
  /** What stands behind the name. */
  readonly input: string;
  readonly promptId: string | undefined;
}

/** A name is followed by a space or nothing, so that a path is none. */
const COMMAND = /^\/([a-z][\w-]{0,63})(?:\s+([^]*))?$/i;

/**
 * The command that a prompt is, if it is one: a single text that begins with `/name`. What comes with attachments, or
 * with a space before it, is for the model. Throws PERDURE_INPUT_INVALID for a command with a run id.
 */
export function calledCommand({ parts, promptId, runId }: CheckedPrompt): CalledCommand | undefined {
  const [part] = parts;
  const match = parts.length === 1 && part?.type === 'text' ? COMMAND.exec(part.text) : null;
  if (match === null) return undefined;
  if (runId !== undefined) {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'runId', reason: 'a command begins no run' });
  }
  const [, name = '', input = ''] = match;
  return { name, input: input.trim(), promptId };
}
