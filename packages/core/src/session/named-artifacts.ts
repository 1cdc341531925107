import type { ArtifactReference } from '@perdure/events';
import type { AppendList } from './append-list.js';

type Named = { readonly artifact?: ArtifactReference } | { readonly type: string };

/** The artifacts that a session's facts name, with those that some parts name behind them. */
export function withArtifacts(
  artifacts: AppendList<ArtifactReference>,
  parts: readonly Named[],
): AppendList<ArtifactReference> {
  let named = artifacts;
  for (const part of parts) {
    if ('artifact' in part && part.artifact !== undefined) named = named.push(part.artifact);
  }
  return named;
}
