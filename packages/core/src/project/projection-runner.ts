import { sessionKeyOf, type FactRegistry, type RecordedFact } from '@perdure/events';
import type { EventStore, ProjectionRow, ProjectionStore } from '@perdure/plugin-api';
import { timeOf } from '../session/fact-encoder.js';
import type { ProjectedFact, Projection } from './projection.js';

/** How often a runner that lost its place to another begins again before it gives up for this time. */
const TRIES = 5;

/**
 * Brings a projection up to everything that is stored when it is called. Rows and the place in the store change
 * together; when another process was quicker, its rows are taken and the rest is done on top of them.
 */
export class ProjectionRunner<Row> {
  private running: Promise<void> | undefined;

  constructor(
    private readonly projection: Projection<Row>,
    private readonly store: EventStore,
    private readonly rows: ProjectionStore,
    private readonly facts: FactRegistry,
  ) {}

  private get name(): string {
    return `${this.projection.name}@${this.projection.version}`;
  }

  /** All rows, up to date. */
  async read(): Promise<ReadonlyMap<string, Row>> {
    await this.catchUp();
    const rows = await this.rows.rows(this.name);
    return new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as Row]));
  }

  catchUp(): Promise<void> {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) if (await this.advance()) return;
  }

  /** Whether the projection reached the present; `false` when another runner had moved it meanwhile. */
  private async advance(): Promise<boolean> {
    let checkpoint = await this.rows.checkpoint(this.name);
    const controller = new AbortController();
    const source = checkpoint === undefined ? { all: true as const } : { all: true as const, after: checkpoint };
    const options = { categories: ['session'], types: this.projection.types, signal: controller.signal };
    try {
      for await (const batch of this.store.subscribe(source, options)) {
        const { position } = batch;
        if (position !== undefined && position !== checkpoint) {
          const put = await this.fold(batch.facts);
          const change = { expected: checkpoint, checkpoint: position, put, remove: [] };
          if ((await this.rows.commit(this.name, change)).status === 'conflict') return false;
          checkpoint = position;
        }
        if (batch.caughtUp) return true;
      }
      return true;
    } finally {
      controller.abort();
    }
  }

  private async fold(facts: readonly RecordedFact[]): Promise<ProjectionRow[]> {
    const changed = new Map<string, Row>();
    for (const recorded of facts) {
      const fact = this.project(recorded);
      if (fact === undefined) continue;
      for (const key of this.projection.keys(fact)) {
        const row = changed.get(key) ?? (await this.stored(key));
        const next = this.projection.evolve(row, fact, key);
        if (next !== undefined) changed.set(key, next);
      }
    }
    return Array.from(changed, ([key, row]) => ({ key, value: JSON.stringify(row) }));
  }

  private async stored(key: string): Promise<Row | undefined> {
    const [row] = await this.rows.rows(this.name, { prefix: key, limit: 1 });
    return row?.key === key ? (JSON.parse(row.value) as Row) : undefined;
  }

  private project(recorded: RecordedFact): ProjectedFact | undefined {
    const key = sessionKeyOf(recorded.stream);
    if (key === undefined) return undefined;
    const read = this.facts.read(recorded);
    if (read.kind !== 'known') return undefined;
    return { key, type: read.type, payload: read.payload, revision: recorded.revision, time: timeOf(recorded) };
  }
}
