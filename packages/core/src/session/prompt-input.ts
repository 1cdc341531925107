import { userPart, type UserPart } from '@perdure/events';
import { PerdureError, type PromptInput, type PromptLike, type WhenBusy } from '@perdure/plugin-api';

/** A prompt that was checked. */
export interface CheckedPrompt {
  readonly parts: readonly UserPart[];
  readonly promptId: string | undefined;
  readonly whenBusy: WhenBusy;
  /** What the first run of the turn is to be called. */
  readonly runId: string | undefined;
}

const WHEN_BUSY: readonly string[] = ['steer', 'queue', 'reject', 'interrupt'];

/**
 * Checks a prompt from outside. One that names its run opens a turn of its own: it waits where others would steer.
 * Throws PERDURE_INPUT_INVALID naming the field; nothing has been stored then. */
export function checkPrompt(input: PromptLike, whenBusy: WhenBusy): CheckedPrompt {
  const prompt: PromptInput = typeof input === 'string' ? { query: input } : input;
  if (typeof prompt !== 'object' || prompt === null) throw invalid('prompt', 'it is a text or an object');
  const { promptId, runId, attachments = [] } = prompt;
  for (const [field, id] of Object.entries({ promptId, runId })) {
    if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > 200)) {
      throw invalid(field, 'it has 1 to 200 characters');
    }
  }
  if (prompt.whenBusy !== undefined && !WHEN_BUSY.includes(prompt.whenBusy)) {
    throw invalid('whenBusy', `it is one of ${WHEN_BUSY.join(', ')}`);
  }
  if (runId !== undefined && prompt.whenBusy === 'steer') {
    throw invalid('whenBusy', 'a prompt that names its run cannot join another');
  }
  if (!Array.isArray(attachments)) throw invalid('attachments', 'it is a list');
  const query = queryParts(prompt.query);
  const parts = [...query, ...checkParts('attachments', attachments)];
  if (!parts.some((part) => part.type === 'file' || part.text.trim() !== '')) throw invalid('query', 'it is empty');
  const absent = runId !== undefined && whenBusy === 'steer' ? 'queue' : whenBusy;
  return { parts, promptId, runId, whenBusy: prompt.whenBusy ?? absent };
}

function queryParts(query: unknown): readonly UserPart[] {
  if (typeof query === 'string') return query === '' ? [] : [{ type: 'text', text: query }];
  if (Array.isArray(query)) return checkParts('query', query);
  throw invalid('query', 'it is a text or a list of parts');
}

function checkParts(field: string, parts: readonly unknown[]): readonly UserPart[] {
  return parts.map((part, index) => {
    const checked = userPart.safeParse(part);
    if (checked.success) return checked.data;
    const issue = checked.error.issues[0];
    throw invalid([field, index, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
  });
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
