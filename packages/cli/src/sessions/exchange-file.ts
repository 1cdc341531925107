import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { sessionStream, type RecordedFact, type SessionKey } from '@perdure/events';
import { PerdureError, reasonOf } from '@perdure/plugin-api';
import type { ExportedFact } from '@perdure/core';
import { z } from 'zod';
import { jsonText } from '../terminal/json-text.js';

export const FACTS_FORMAT = 'perdure.session-facts';

/** The first line of a file of facts: which stream it is, and where it ends. */
const header = z.strictObject({
  format: z.literal(FACTS_FORMAT),
  version: z.literal(1),
  tenant: z.string().nullable(),
  session: z.string().min(1),
  revision: z.int().nonnegative(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type FactsHeader = z.output<typeof header>;

/** The members of a stored fact, and no others. What `stream` and `position` say is of the store that it came from. */
const line = z.strictObject({
  stream: z.string(),
  position: z.string(),
  revision: z.int().nonnegative(),
  id: z.string(),
  type: z.string(),
  payload: z.string(),
  metadata: z.string(),
});

export function factsHeader({ tenant = null, id }: SessionKeyLike, revision: number, hash: string): FactsHeader {
  return { format: FACTS_FORMAT, version: 1, tenant, session: id, revision, hash };
}
/** The line of a fact. */
export function factLine({ stream, revision, position, id, type, payload, metadata }: RecordedFact): string {
  return jsonText({ stream, revision, position, id, type, payload, metadata });
}
type SessionKeyLike = { readonly tenant?: string | null | undefined; readonly id: string };

/** What a file to import holds. */
export type ExchangeFile =
  | { readonly kind: 'facts'; readonly header: FactsHeader; readonly facts: () => AsyncIterable<ExportedFact> }
  | { readonly kind: 'snapshot'; readonly value: unknown };

/** Looks what a file is. A file of facts is read line by line, however long it is. Throws PERDURE_INPUT_INVALID. */
export async function openExchangeFile(path: string): Promise<ExchangeFile> {
  const first = await firstLine(path);
  const value = parsed(first);
  if (typeof value === 'object' && value !== null && 'format' in value) {
    const checked = header.safeParse(value);
    if (checked.success) return { kind: 'facts', header: checked.data, facts: () => readFacts(path, checked.data) };
    const issue = checked.error.issues[0];
    throw invalid(['header', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
  }
  const whole = parsed(await readFile(path, 'utf8'));
  if (whole === undefined) throw invalid('file', 'it is neither a snapshot nor a file of facts');
  return { kind: 'snapshot', value: whole };
}

/** The key of the stream in a file of facts: the file says it, and a tenant that is named must be that one. */
export function keyOfFacts({ tenant, session: id }: FactsHeader, named: string | undefined): SessionKey {
  if (named !== undefined && named !== tenant) throw invalid('--tenant', `the file is of ${tenant ?? 'no tenant'}`);
  return tenant === null ? { id } : { tenant, id };
}

async function firstLine(path: string): Promise<string> {
  try {
    for await (const text of linesOf(path)) return text;
  } catch (cause) {
    throw invalid('file', reasonOf(cause), cause);
  }
  throw invalid('file', 'it is empty');
}

async function* readFacts(path: string, header: FactsHeader): AsyncGenerator<ExportedFact> {
  const stream = sessionStream(keyOfFacts(header, undefined));
  let number = 0;
  for await (const text of linesOf(path)) {
    number += 1;
    if (number === 1 || text.trim() === '') continue;
    const checked = line.safeParse(parsed(text));
    if (!checked.success) throw notFact(number, checked.error);
    const { stream: named, position: _, ...fact } = checked.data;
    if (named !== stream) throw invalid(`line ${number}.stream`, `it is ${named}, and the file is of ${stream}`);
    yield fact;
  }
}

/** What is wrong with a line, and in which member; one that no fact has explains another that is missing. */
function notFact(number: number, { issues }: z.ZodError): PerdureError {
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys');
  if (unknown?.code === 'unrecognized_keys') {
    return invalid(`line ${number}.${unknown.keys[0] ?? ''}`, 'no fact has such a member');
  }
  const [issue] = issues;
  const field = [`line ${number}`, ...(issue?.path ?? [])].map(String).join('.');
  return invalid(field, issue?.message ?? 'it is no fact');
}

function linesOf(path: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What it is instead is for the caller to say.
    return undefined;
  }
}

function invalid(field: string, reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason }, { cause });
}
