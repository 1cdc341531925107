import { crc32 } from 'node:zlib';
import {
  claimedHashes,
  isFactIntact,
  keyText,
  sessionStream,
  type ArtifactReference,
  type FactRegistry,
  type SessionKey,
} from '@perdure/events';
import type { Message, ProjectionRow, ProjectionStore } from '@perdure/plugin-api';
import { z } from 'zod';
import { digestOf, sha256 } from '../host/sha256.js';
import type { HostServices } from '../host/host-services.js';
import { AppendList } from '../session/append-list.js';
import { timeOf } from '../session/fact-encoder.js';
import type { Journal } from '../session/journal.js';
import { emptySession, type FoldedSession } from '../session/session-loader.js';
import {
  currentTurn,
  FOLD_VERSION,
  initialState,
  type EndedTurn,
  type KnownCommand,
  type SessionState,
} from '../session/session-state.js';

/** Items of one row. A row that is full is written once. */
const CHUNK = 1_000;
const LISTS = ['messages', 'context', 'ended', 'commands', 'artifacts'] as const;
type ListName = (typeof LISTS)[number];

const headRow = z.strictObject({
  fold: z.string(),
  revision: z.int().nonnegative(),
  hash: z.string(),
  lengths: z.record(z.string(), z.int().nonnegative()),
  /** CRC-32 of each row, in order, by list. The head itself carries a digest. */
  chunks: z.record(z.string(), z.array(z.int().nonnegative())),
  /** The state without its lists. */
  rest: z.record(z.string(), z.unknown()),
});
type HeadRow = z.output<typeof headRow>;

/** What a snapshot is good for: equal texts mean that the same facts fold to the same state. */
export function foldDigest(facts: FactRegistry): string {
  return digestOf([`fold ${FOLD_VERSION}`, ...facts.description()].join('\n'));
}

/** Forgets the state snapshot of a session. */
export function removeStateSnapshot(projections: ProjectionStore, key: SessionKey): Promise<void> {
  return projections.clear(projectionOf(key));
}

function projectionOf(key: SessionKey): string {
  return `state:${keyText(key)}`;
}

/**
 * Opens the newest state snapshot of a session. Snapshots are caches: one that is not exactly what this build would
 * have folded from exactly this stream (another fold, a flipped byte, another chain) is passed by, and nothing is lost.
 */
export async function openStateSnapshot(
  { projections, store, facts }: Pick<HostServices, 'projections' | 'store' | 'facts'>,
  key: SessionKey,
): Promise<FoldedSession> {
  if (projections === undefined) return emptySession;
  const projection = projectionOf(key);
  const head = readHead((await projections.rows(projection, { prefix: 'head' }))[0], foldDigest(facts));
  if (head === undefined) return emptySession;
  const stream = sessionStream(key);
  const [fact] = (await store.read(stream, { from: head.revision, limit: 1 })).facts;
  if (fact?.revision !== head.revision || claimedHashes(fact.metadata)?.hash !== head.hash) return emptySession;
  if (!isFactIntact(fact, sha256)) return emptySession;
  const rows = await projections.rows(projection, { prefix: 'list/' });
  const lists = readLists(head, rows);
  if (lists === undefined) return emptySession;
  const state = {
    ...initialState,
    ...head.rest,
    messages: AppendList.from(lists.messages as Message[]),
    context: AppendList.from(lists.context as number[]),
    ended: AppendList.from(lists.ended as EndedTurn[]),
    commands: AppendList.from(lists.commands as KnownCommand[]),
    artifacts: AppendList.from(lists.artifacts as ArtifactReference[]),
  } as SessionState;
  return { state, revision: head.revision, hash: head.hash, time: timeOf(fact) };
}

function readHead(row: ProjectionRow | undefined, fold: string): HeadRow | undefined {
  if (row === undefined) return undefined;
  const at = row.value.indexOf('\n');
  const text = row.value.slice(at + 1);
  if (at < 0 || row.value.slice(0, at) !== digestOf(text)) return undefined;
  const parsed = headRow.safeParse(JSON.parse(text));
  return parsed.success && parsed.data.fold === fold ? parsed.data : undefined;
}

function readLists(head: HeadRow, rows: readonly ProjectionRow[]): Record<ListName, unknown[]> | undefined {
  const byKey = new Map(rows.map(({ key, value }) => [key, value]));
  const lists: Record<ListName, unknown[]> = noItems<unknown>();
  for (const name of LISTS) {
    for (const [index, sum] of (head.chunks[name] ?? []).entries()) {
      const value = byKey.get(rowKey(name, index));
      if (value === undefined || crc32(value) !== sum) return undefined;
      for (const item of JSON.parse(value) as unknown[]) lists[name].push(item);
    }
    if (lists[name].length !== head.lengths[name]) return undefined;
  }
  return lists;
}

function noItems<Item>(): Record<ListName, Item[]> {
  return { messages: [], context: [], ended: [], commands: [], artifacts: [] };
}

function rowKey(list: ListName, index: number): string {
  return `list/${list}/${String(index).padStart(8, '0')}`;
}

/**
 * Writes state snapshots of one session. What is written each time is what has come since the last time: rows that were
 * full then are kept.
 */
export class StateSnapshotWriter {
  private checkpoint: string | undefined;
  private known = false;
  private readonly full = noItems<number>();
  private compactions = 0;
  /** The revision of the last snapshot that this process wrote or opened. */
  revision: number;

  constructor(
    private readonly projections: ProjectionStore,
    private readonly journal: Pick<Journal, 'state' | 'head' | 'hash' | 'key'>,
    private readonly fold: string,
    opened: number,
  ) {
    this.revision = opened;
  }

  async write(): Promise<void> {
    const { state, head, hash, key } = this.journal;
    if (head < 0 || head === this.revision) return;
    const projection = projectionOf(key);
    if (!this.known) this.checkpoint = await this.projections.checkpoint(projection);
    this.known = true;
    const put: ProjectionRow[] = [];
    const chunks: Record<string, number[]> = {};
    const lengths: Record<string, number> = {};
    for (const name of LISTS) {
      if (name === 'context' && state.compactions !== this.compactions) this.full.context = [];
      chunks[name] = this.pack(name, state, put);
      lengths[name] = state[name].length;
    }
    this.compactions = state.compactions;
    const { messages: _, context: __, ended: ___, commands: ____, artifacts: _____, ...rest } = state;
    const text = JSON.stringify({ fold: this.fold, revision: head, hash, lengths, chunks, rest } satisfies HeadRow);
    put.push({ key: 'head', value: `${digestOf(text)}\n${text}` });
    const checkpoint = `${head}:${hash}`;
    const outcome = await this.projections.commit(projection, {
      expected: this.checkpoint,
      checkpoint,
      put,
      remove: [],
    });
    if (outcome.status === 'stored') {
      this.checkpoint = checkpoint;
      this.revision = head;
      return;
    }
    // Another process writes them too: begin anew next time.
    this.known = false;
    for (const name of LISTS) this.full[name] = [];
  }

  private pack(name: ListName, state: SessionState, put: ProjectionRow[]): number[] {
    const list: AppendList<unknown> = state[name];
    const full = this.full[name];
    const sums = [...full];
    // Results still come to the message of the open step; all before it is final.
    const final = name === 'messages' ? (currentTurn(state)?.step?.results ?? list.length) : list.length;
    for (let index = full.length; index * CHUNK < list.length; index++) {
      const value = JSON.stringify(list.slice(index * CHUNK, (index + 1) * CHUNK));
      const sum = crc32(value);
      put.push({ key: rowKey(name, index), value });
      sums.push(sum);
      if ((index + 1) * CHUNK <= final) full.push(sum);
    }
    return sums;
  }
}
