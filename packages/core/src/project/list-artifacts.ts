import {
  artifactReference,
  sessionKeyOf,
  sessionStream,
  type ArtifactReference,
  type RecordedFact,
} from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { readChain } from '../session/chain-reader.js';

/**
 * Every artifact that facts of a stream name, each once, in the order in which they first do; of a fork first those of
 * the stream that it goes on from, as far as it had come then. Nothing is folded, and payloads that cannot name one are
 * not parsed; facts of plugins and of newer builds are looked into as well.
 */
export async function listArtifacts(store: EventStore, stream: string): Promise<readonly ArtifactReference[]> {
  const found = new Map<string, ArtifactReference>();
  for (const { of, until } of await lineOf(store, stream)) await collectFrom(store, of, until, found);
  return [...found.values()];
}

/** The same of the stream alone: what a fork goes on from is not its to destroy. */
export async function listOwnArtifacts(store: EventStore, stream: string): Promise<readonly ArtifactReference[]> {
  const found = new Map<string, ArtifactReference>();
  await collectFrom(store, stream, undefined, found);
  return [...found.values()];
}

/** A stream up to a revision that is no part of it any more; the whole stream when absent. */
interface Stretch {
  readonly of: string;
  readonly until: number | undefined;
}

/** What a session is made of: stretches of the streams that it goes on from, the first of them first, and its own. */
async function lineOf(store: EventStore, stream: string): Promise<readonly Stretch[]> {
  const line: Stretch[] = [];
  for (let next: Stretch | undefined = { of: stream, until: undefined }; next !== undefined;) {
    line.unshift(next);
    const [first]: readonly RecordedFact[] = (await store.read(next.of, { limit: 1 })).facts;
    next = first?.type === 'SessionForked' ? originOf(first) : undefined;
  }
  return line;
}

function originOf({ stream, payload }: RecordedFact): Stretch | undefined {
  const key = sessionKeyOf(stream);
  const { from } = JSON.parse(payload) as { readonly from: { readonly session: string; readonly revision: number } };
  return key && { of: sessionStream({ ...key, id: from.session }), until: from.revision + 1 };
}

async function collectFrom(
  store: EventStore,
  stream: string,
  until: number | undefined,
  found: Map<string, ArtifactReference>,
): Promise<void> {
  for await (const facts of readChain(store, stream, { from: 0 }, until === undefined ? {} : { until })) {
    for (const { payload } of facts) {
      if (payload.includes(SIGN)) collect(JSON.parse(payload), found);
    }
  }
}

/** Every reference has its digest behind this member; in a text it would be escaped. */
const SIGN = '"digest":"sha256:';

/** The artifacts that a payload names. */
export function artifactsIn(payload: unknown): readonly ArtifactReference[] {
  const found = new Map<string, ArtifactReference>();
  collect(payload, found);
  return [...found.values()];
}

/** What a tool gave or was given may look like a reference and names nothing: the members of facts do. */
function collect(payload: unknown, found: Map<string, ArtifactReference>): void {
  const { artifact, artifacts, parts, files } = (payload ?? {}) as Readonly<Record<string, unknown>>;
  const lists = [parts, files].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const listed: readonly unknown[] = Array.isArray(artifacts) ? artifacts : [];
  for (const named of [
    artifact,
    ...listed,
    ...lists.map((part) => (part as { readonly artifact?: unknown } | null)?.artifact),
  ]) {
    const reference = artifactReference.safeParse(named);
    if (reference.success && !found.has(reference.data.digest)) found.set(reference.data.digest, reference.data);
  }
}
