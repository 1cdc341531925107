import { isPerdureError, reasonOf } from '@perdure/plugin-api';
import { CommanderError } from 'commander';
import { advice } from './advice.js';
import { jsonText } from './json-text.js';
import type { Screen } from './screen.js';
import { visible } from './visible.js';

export interface ReportedError {
  readonly code: string;
  readonly message: string;
  readonly advice?: string;
}

/** What a command says of an error that ended it. */
export function describeError(error: unknown): ReportedError {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    return { code: 'PERDURE_INPUT_INVALID', message, advice: 'Each command explains itself with --help.' };
  }
  if (!isPerdureError(error)) {
    return { code: 'PERDURE_INTERNAL', message: reasonOf(error), advice: advice.PERDURE_INTERNAL ?? '' };
  }
  const { code, message } = error;
  const hint = advice[code]?.replaceAll('SESSION', String(error.data['session'] ?? 'SESSION'));
  return { code, message, ...(hint === undefined ? {} : { advice: hint }) };
}

/** Tells an error on standard error: in words, or as one JSON line. Stacks are for PERDURE_DEBUG=1 alone. */
export async function reportError(error: unknown, screen: Screen, options: ReportOptions): Promise<void> {
  const described = describeError(error);
  const stack = options.debug && error instanceof Error ? (error.stack ?? '') : undefined;
  await screen.rest();
  if (options.json) {
    await screen.error.line(jsonText({ error: { ...described, ...(stack === undefined ? {} : { stack }) } }));
    return;
  }
  await screen.endText();
  const { style } = screen;
  await screen.note(`${style.red('error:')} ${visible(described.message)} ${style.dim(`(${described.code})`)}`);
  if (described.advice !== undefined) await screen.note(`  ${described.advice}`);
  if (stack !== undefined) await screen.note(style.dim(stack));
}

export interface ReportOptions {
  readonly json: boolean;
  readonly debug: boolean;
}
