import { streamCategory } from '@perdure/events';
import type { AppendResult, ExpectedRevision, NewFact } from '@perdure/plugin-api';
import type { Row } from './connections.js';
import { streamKey } from './names.js';
import { positionText } from './position.js';

/** One batch that shall be appended, with its size in bytes. */
export interface AppendRequest {
  readonly stream: string;
  readonly facts: readonly NewFact[];
  readonly expected: ExpectedRevision;
  readonly bytes: number;
}

export function appendRequest(stream: string, facts: readonly NewFact[], expected: ExpectedRevision): AppendRequest {
  let bytes = 0;
  for (const { payload, metadata } of facts) bytes += Buffer.byteLength(payload) + Buffer.byteLength(metadata);
  return { stream, facts, expected, bytes };
}

/** The values of the function that appends, for several batches. */
export function appendValues(requests: readonly AppendRequest[]): readonly unknown[] {
  const facts = requests.flatMap((request) => request.facts);
  const bytes = Buffer.allocUnsafe(requests.reduce((sum, request) => sum + request.bytes, 0));
  const first: number[] = [];
  const middle: number[] = [];
  const last: number[] = [];
  let at = 0;
  for (const { payload, metadata } of facts) {
    first.push(at + 1);
    at += bytes.write(payload, at);
    middle.push(at + 1);
    at += bytes.write(metadata, at);
    last.push(at + 1);
  }
  return [
    requests.map(({ stream }) => streamKey(stream)),
    requests.map(({ stream }) => stream),
    requests.map(({ stream }) => streamCategory(stream)),
    requests.map(({ expected }) => (expected === 'none' ? -1 : expected)),
    requests.map((request) => request.facts.length),
    facts.map(({ id }) => id),
    facts.map(({ type }) => type),
    facts.map(({ detail }) => detail === true),
    first,
    middle,
    last,
    bytes,
  ];
}

export function appendStatement(schema: string): { readonly name: string; readonly text: string } {
  return {
    name: 'append',
    text: `select outcome, actual, place from ${schema}.append_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
  };
}

/** The same ids were at that place before: what else was sent with them is not known to be what is stored. */
export function isRepeat(row: Row | undefined): boolean {
  return row?.[0] === 2;
}

/** What the function answers for one batch. */
export function appendResult(row: Row | undefined): AppendResult {
  const [outcome, actual, place] = row ?? [];
  const revision = Number(actual);
  if (outcome !== 1) return { status: 'stored', revision, position: positionText(Number(place)) };
  return { status: 'conflict', actual: revision < 0 ? 'none' : revision };
}
