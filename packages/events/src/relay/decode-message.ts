import type { RecordedFact } from '../fact-registry.js';
import type { RelayValue } from './message.js';

/** A header as clients of Kafka give it. */
export type HeaderValue = string | Uint8Array | readonly (string | Uint8Array)[] | undefined;

/** A message as clients of Kafka give it. */
export interface ReceivedMessage {
  readonly key?: string | Uint8Array | null;
  readonly value: string | Uint8Array | null;
  readonly headers?: Readonly<Record<string, HeaderValue>> | undefined;
}

/** What a message of the topic says. */
export interface ReceivedFact {
  readonly id: string;
  readonly source: string;
  /** The type of the fact, which this reader need not know. */
  readonly type: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: number;
  /** The revision of the stream's message before this one; absent when there is none that could be missing. */
  readonly prevRevision?: number;
  readonly position: string;
  readonly value: RelayValue;
  /** As it was stored, byte for byte; absent in a stub. */
  readonly fact?: RecordedFact;
  /** Of a stub: `<topic>/<partition>/<offset>`. */
  readonly deadLetter?: string;
}

export type DecodedMessage =
  | { readonly ok: true; readonly received: ReceivedFact }
  | { readonly ok: false; readonly field: string; readonly message: string };

const TYPE = /^dev\.perdure\.(.+)\.v(\d+)$/;
const WHOLE = /^\d{1,15}$/;

/** Reads a message of the facts topic. Headers and columns that this reader does not know are passed by. */
export function decodeRelayMessage({ value, headers = {} }: ReceivedMessage): DecodedMessage {
  const at = (name: string): string | undefined => headerText(headers[name]);
  const type = TYPE.exec(at('ce_type') ?? '');
  if (type === null) return wrong('ce_type', 'is not dev.perdure.<Type>.v<version>');
  for (const name of ['ce_id', 'ce_source', 'ce_stream', 'ce_position'])
    if (at(name) === undefined) return wrong(name, 'is missing');
  const revision = at('ce_revision') ?? '';
  if (!WHOLE.test(revision)) return wrong('ce_revision', 'is no revision');
  const prevRevision = at('ce_prevrevision');
  if (prevRevision !== undefined && !WHOLE.test(prevRevision)) return wrong('ce_prevrevision', 'is no revision');
  const data = valueOf(value);
  if (data === undefined) return wrong('value', 'is no JSON object');
  const deadLetter = at('ce_deadletter');
  return {
    ok: true,
    received: {
      id: at('ce_id') ?? '',
      source: at('ce_source') ?? '',
      type: type[1] ?? '',
      version: Number(type[2]),
      stream: at('ce_stream') ?? '',
      revision: Number(revision),
      ...(prevRevision === undefined ? {} : { prevRevision: Number(prevRevision) }),
      position: at('ce_position') ?? '',
      value: data,
      ...(data.fact === null ? {} : { fact: data.fact }),
      ...(deadLetter === undefined ? {} : { deadLetter }),
    },
  };
}

/** The text of a header; the last one when it stands there more than once. */
export function headerText(header: HeaderValue): string | undefined {
  const one = Array.isArray(header) ? (header as readonly (string | Uint8Array)[]).at(-1) : header;
  if (one === undefined || one === null) return undefined;
  return typeof one === 'string' ? one : new TextDecoder().decode(one as Uint8Array);
}

function valueOf(value: string | Uint8Array | null): RelayValue | undefined {
  if (value === null) return undefined;
  try {
    const data: unknown = JSON.parse(typeof value === 'string' ? value : new TextDecoder().decode(value));
    return typeof data === 'object' && data !== null && 'fact' in data ? (data as RelayValue) : undefined;
  } catch {
    return undefined;
  }
}

function wrong(field: string, message: string): DecodedMessage {
  return { ok: false, field, message };
}
