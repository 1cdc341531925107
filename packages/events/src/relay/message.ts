import type { RecordedFact } from '../fact-registry.js';
import type { RelayColumns } from './column-schema.js';
import { relayColumns, relayMessageKey } from './columns.js';

/** The data of a relayed fact: its columns, and the fact as it is stored; `null` in a stub. */
export type RelayValue = RelayColumns & { readonly fact: RecordedFact | null };

/** A relayed fact in CloudEvents' binary mode for Kafka: attributes are headers, the value is the data. */
export interface RelayMessage {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text of a RelayValue. */
  readonly value: string;
}

export interface RelayMessageOptions {
  /** `/perdure/<store id>`. */
  readonly source: string;
  /**
   * The revision of the last message of this stream on the topic. Absent for a stream's first message, and for a fact
   * before which others were erased.
   */
  readonly prevRevision?: number | undefined;
  /** The place of the dead letter: the message is a stub, and the fact itself is there. */
  readonly deadLetter?: string;
  /** The columns of the fact, where they are known already. */
  readonly columns?: RelayColumns;
}

/** The message of a fact. The same fact and options always give the same bytes. */
export function relayMessage(fact: RecordedFact, options: RelayMessageOptions): RelayMessage {
  const { source, prevRevision, deadLetter } = options;
  const { stream, revision, position, id, type, payload, metadata } = fact;
  const columns = { ...(options.columns ?? relayColumns(fact)), dead_letter: deadLetter ?? null };
  const stored = deadLetter === undefined ? { stream, revision, position, id, type, payload, metadata } : null;
  const version = columns.schema_version ?? 1;
  const key = relayMessageKey(stream);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: source,
    ce_type: `dev.perdure.${type}.v${version}`,
    ce_subject: key,
    ce_dataschema: `urn:perdure:schema:${type}:v${version}`,
    ce_stream: stream,
    ce_revision: String(revision),
    ce_position: position,
  };
  if (columns.occurred_at !== null) headers['ce_time'] = columns.occurred_at;
  if (columns.tenant !== null) headers['ce_tenant'] = columns.tenant;
  if (prevRevision !== undefined) headers['ce_prevrevision'] = String(prevRevision);
  if (deadLetter !== undefined) headers['ce_deadletter'] = deadLetter;
  return { key, headers, value: JSON.stringify({ ...columns, fact: stored }) };
}
