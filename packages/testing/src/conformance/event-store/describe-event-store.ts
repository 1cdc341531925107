import type { EventStore } from '@perdure/plugin-api';
import type { StoreUnderTest } from '../place.js';
import { eventStoreRequirements } from '../requirements.js';
import { defineSuite } from '../suite.js';
import { verifyAppend } from './append.js';
import { verifyClose } from './close.js';
import type { EventStoreSuite } from './event-store-suite.js';
import { verifyExactText } from './exact-text.js';
import { verifyFollowLive } from './follow-live.js';
import { verifyRead } from './read.js';
import { verifyReopen } from './reopen.js';
import { verifyRepeat } from './repeat.js';
import { verifySubscribe } from './subscribe.js';
import { verifyTruncate } from './truncate.js';
import { verifyWeakStreams } from './weak-streams.js';

/** Registers the tests of everything that the port `EventStore` promises. */
export function describeEventStore(under: StoreUnderTest<EventStore>): void {
  defineSuite('EventStore', eventStoreRequirements, under, (suite: EventStoreSuite) => {
    verifyAppend(suite);
    verifyRepeat(suite);
    verifyRead(suite);
    verifyExactText(suite);
    verifySubscribe(suite);
    verifyFollowLive(suite);
    verifyTruncate(suite);
    verifyWeakStreams(suite);
    verifyReopen(suite);
    verifyClose(suite);
  });
}
