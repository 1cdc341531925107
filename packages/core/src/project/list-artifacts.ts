import { artifactReference, type ArtifactReference } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { readChain } from '../session/chain-reader.js';

/**
 * Every artifact that facts of a stream name, each once, in the order in which they first do. Nothing is folded, and
 * payloads that cannot name one are not parsed; facts of plugins and of newer builds are looked into as well.
 */
export async function listArtifacts(store: EventStore, stream: string): Promise<readonly ArtifactReference[]> {
  const found = new Map<string, ArtifactReference>();
  for await (const facts of readChain(store, stream, { from: 0 })) {
    for (const { payload } of facts) {
      if (payload.includes(SIGN)) collect(JSON.parse(payload), found);
    }
  }
  return [...found.values()];
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
