import { keyText, type PayloadOf, type SessionKey } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { HostServices } from '../host/host-services.js';
import type { ProjectedFact, Projection } from './projection.js';
import { ProjectionRunner } from './projection-runner.js';

/** A session that came out of another one: it works for it, or went on from a place in it. */
export interface LineageRow {
  readonly session: string;
  readonly kind: 'child' | 'fork';
  readonly agentId: string;
  /** The revision from which a fork goes on. */
  readonly at: number | null;
}

/** Which sessions came out of which: a row for each pair, under the one that was there first. */
export const lineage: Projection<LineageRow> = {
  name: 'lineage',
  version: 1,
  types: ['SessionCreated', 'SessionForked'],
  keys: (fact) => relationsOf(fact).map(({ key }) => key),
  evolve: (_, fact, key) => {
    const { agentId, ...origin } = fact.payload as PayloadOf<'SessionCreated'> | PayloadOf<'SessionForked'>;
    const isFork = key === relationsOf(fact).find(({ kind }) => kind === 'fork')?.key;
    const at = isFork && 'from' in origin ? origin.from.revision : null;
    return { session: fact.key.id, kind: isFork ? 'fork' : 'child', agentId, at };
  },
};

interface Relation {
  readonly kind: LineageRow['kind'];
  readonly key: string;
}

function relationsOf({ key, payload }: ProjectedFact): readonly Relation[] {
  const { parent, ...origin } = payload as PayloadOf<'SessionCreated'> | PayloadOf<'SessionForked'>;
  const relation = (id: string, kind: LineageRow['kind']): Relation => ({
    kind,
    key: `${keyText({ ...key, id })}/${kind}/${keyText(key)}`,
  });
  return [
    ...(parent === undefined ? [] : [relation(parent, 'child')]),
    ...('from' in origin ? [relation(origin.from.session, 'fork')] : []),
  ];
}

type LineageServices = Pick<HostServices, 'projections' | 'store' | 'facts' | 'logger'>;

/** The sessions that came out of one, in the order of their keys. Throws PERDURE_TOKEN_MISSING. */
export async function descendantsOf(services: LineageServices, key: SessionKey): Promise<readonly LineageRow[]> {
  const { store, projections, facts, logger } = services;
  if (projections === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: 'projection-store' });
  const runner = new ProjectionRunner(lineage, store, projections, facts, logger);
  return [...(await runner.readPrefix(`${keyText(key)}/`)).values()];
}
