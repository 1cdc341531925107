import type { EventStore } from '@perdure/plugin-api';
import type { EventStoreRequirement } from '../requirements.js';
import type { Suite } from '../suite.js';

export type EventStoreSuite = Suite<EventStore, EventStoreRequirement>;
