import { userPart, type UserPart } from '@perdure/events';
import { checkAttachment, checkFilePart, type GivenPart } from '../files/given-file.js';
import { PerdureError, type PromptInput, type PromptLike, type WhenBusy } from '@perdure/plugin-api';

/** A prompt that was checked, with its files as they were given. */
export interface CheckedPrompt {
  readonly parts: readonly GivenPart[];
  readonly promptId: string | undefined;
  readonly whenBusy: WhenBusy;
  /** What the first run of the turn is to be called. */
  readonly runId: string | undefined;
}

/** The same with its files read and ready to be kept. */
export type ReadPrompt = Omit<CheckedPrompt, 'parts'> & { readonly parts: readonly UserPart[] };

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
  const files = attachments.map((attachment, index) => checkAttachment(attachment, `attachments[${index}]`));
  const parts = [...query, ...files];
  if (!parts.some((part) => part.type !== 'text' || part.text.trim() !== '')) throw invalid('query', 'it is empty');
  const absent = runId !== undefined && whenBusy === 'steer' ? 'queue' : whenBusy;
  return { parts, promptId, runId, whenBusy: prompt.whenBusy ?? absent };
}

function queryParts(query: unknown): readonly GivenPart[] {
  if (typeof query === 'string') return query === '' ? [] : [{ type: 'text', text: query }];
  if (Array.isArray(query)) return query.map(checkPart);
  throw invalid('query', 'it is a text or a list of parts');
}

function checkPart(part: unknown, index: number): GivenPart {
  const checked = userPart.safeParse(part);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw invalid(['query', index, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
  }
  return checked.data.type === 'text' ? checked.data : checkFilePart(checked.data, `query.${index}`);
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
