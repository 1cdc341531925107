import type { ProjectionStore } from '@perdure/plugin-api';
import type { StoreUnderTest } from '../place.js';
import { projectionStoreRequirements } from '../requirements.js';
import { defineSuite } from '../suite.js';
import { verifyCommit } from './commit.js';
import type { ProjectionStoreSuite } from './projection-store-suite.js';
import { verifyRows } from './rows.js';

/** Registers the tests of everything that the port `ProjectionStore` promises. */
export function describeProjectionStore(under: StoreUnderTest<ProjectionStore>): void {
  defineSuite('ProjectionStore', projectionStoreRequirements, under, (suite: ProjectionStoreSuite) => {
    verifyCommit(suite);
    verifyRows(suite);
  });
}
