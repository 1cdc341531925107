import { keyText, type SessionKey } from '@perdure/events';
import { artifactsIn } from './list-artifacts.js';
import type { Projection } from './projection.js';

/** That a session names an artifact of its tenant. */
export interface ArtifactUse {
  readonly session: string;
}

/** Which sessions name which artifacts: only who destroys one looks, so that only then it is brought up to date. */
export const artifactUses: Projection<ArtifactUse> = {
  name: 'artifact-uses',
  version: 1,
  types: ['PromptAccepted', 'ModelAnswered', 'ToolCallSettled', 'ArtifactStored', 'MessagesImported'],
  keys: (fact) => artifactsIn(fact.payload).map(({ digest }) => artifactUseKey(digest, fact.key)),
  evolve: (_, fact) => ({ session: fact.key.id }),
};

/** The key of the row that says that a session names an artifact. */
export function artifactUseKey(digest: string, session: SessionKey): string {
  return `${artifactUsesOf(digest, session)}${keyText(session)}`;
}

/** What the rows of an artifact begin with. */
export function artifactUsesOf(digest: string, { tenant }: Pick<SessionKey, 'tenant'>): string {
  return `${keyText({ tenant, id: digest })}/`;
}
