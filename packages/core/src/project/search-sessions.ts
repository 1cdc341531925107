import { keyText } from '@perdure/events';
import type { FoundSession, SearchOptions, SearchPage } from '@perdure/plugin-api';
import { checkOptions, checkText, invalidInput } from '../session/session-input.js';
import { previewText } from '../session/title.js';
import {
  checkListing,
  folded,
  listedRows,
  projected,
  shownTexts,
  summaryOf,
  type ListServices,
  type SessionListFilter,
} from './list-sessions.js';
import type { SessionListRow } from './session-list.js';
import { sessionOfText, sessionText } from './session-text.js';

/** Characters before the text that is found, in an excerpt. */
const BEFORE = 60;

/** A page of the sessions that contain a text, in the order of a list. */
export async function searchSessions(
  services: ListServices,
  filter: SessionListFilter | undefined,
  query: string,
  options: SearchOptions | undefined,
): Promise<SearchPage> {
  const needle = folded(checkText('query', query));
  const { query: other } = checkOptions<SearchOptions & { readonly query?: unknown }>(options);
  if (other !== undefined) throw invalidInput('options.query', 'the text is the first argument');
  const { limit, cursor, fits } = checkListing(filter, options);
  const inMessages = await searchTexts(services, filter, needle);
  const found = (row: SessionListRow): FoundSession['found'] | undefined => {
    for (const [where, text] of shownTexts(row)) {
      const excerpt = excerptAround(text, needle);
      if (excerpt !== undefined) return { in: where, excerpt };
    }
    const excerpt = inMessages.get(keyOf(row));
    return excerpt === undefined ? undefined : { in: 'message', excerpt };
  };
  const listing = { limit, cursor, fits: (row: SessionListRow) => fits(row) && found(row) !== undefined };
  const { rows, total, nextCursor } = await listedRows(services, listing);
  const items = rows.map((row) => ({ ...summaryOf(row), found: found(row) ?? { in: 'id' as const, excerpt: row.id } }));
  return { items, total, nextCursor };
}

/** By the key of each session that has the text in a message: what stands around its first occurrence. */
async function searchTexts(
  services: ListServices,
  filter: SessionListFilter | undefined,
  needle: string,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const tenant = filter?.tenant;
  const ofTenant = tenant === undefined ? '' : keyText({ id: '', ...(tenant === null ? {} : { tenant }) });
  await projected(services, sessionText).scan(ofTenant, (text, rowKey) => {
    const key = sessionOfText(rowKey);
    if (found.has(key)) return;
    const excerpt = excerptAround(text, needle);
    if (excerpt !== undefined) found.set(key, excerpt);
  });
  return found;
}

function keyOf({ tenant, id }: SessionListRow): string {
  return keyText(tenant === null ? { id } : { tenant, id });
}

/** What stands around a text, on one line; `undefined` when it is not there. */
function excerptAround(text: string, needle: string): string | undefined {
  const lower = folded(text);
  const at = lower.indexOf(needle);
  if (at < 0) return undefined;
  // Some letters are longer in lower case: places in one text are not those in the other then.
  return previewText((lower.length === text.length ? text : lower).slice(Math.max(0, at - BEFORE)));
}
