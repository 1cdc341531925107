import { Relay, relayOptions, type RelaySettings } from '@perdure/relay-kafka';
import { openSqliteStores } from '@perdure/store-sqlite';

/** What a relay in a process of its own is told, as JSON in the first argument. */
export interface RelayOrder {
  readonly path: string;
  readonly settings: RelaySettings;
  readonly node: string;
}

const { path, settings, node } = JSON.parse(process.argv[2] ?? '{}') as RelayOrder;
const { events } = await openSqliteStores({ path });
const relay = new Relay({ store: events, options: relayOptions.parse(settings), node });
setInterval(() => process.send?.(relay.status()), 20);
await relay.run(new AbortController().signal);
