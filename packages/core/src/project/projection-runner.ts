import type { FactRegistry, RecordedFact } from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  reasonOf,
  type EventStore,
  type Logger,
  type ProjectionChange,
  type ProjectionCommit,
  type ProjectionRow,
  type ProjectionStore,
} from '@perdure/plugin-api';
import { projectedFact } from './projected-fact.js';
import type { Projection } from './projection.js';
import { readPast } from './read-past.js';

/** How often a runner that lost its place to another begins again before it gives up for this time. */
const TRIES = 5;

/** Rows that are looked at together. */
const SCANNED = 256;

/** Rows by key that the store has no room for; `undefined` for one that is removed. */
type Unwritten = ReadonlyMap<string, string | undefined>;
type WriteStatus = ProjectionCommit['status'] | 'unwritten';

/**
 * Brings a projection up to everything that is stored when it is called. Rows and the place in the store change
 * together; when another process was quicker, its rows are taken and the rest is done on top of them. A store that can
 * be read and has no room for rows hinders nobody: they are kept for the reader that asked.
 */
export class ProjectionRunner<Row> {
  private running: Promise<Unwritten> | undefined;

  constructor(
    private readonly projection: Projection<Row>,
    private readonly store: EventStore,
    private readonly rows: ProjectionStore,
    private readonly facts: FactRegistry,
    private readonly logger: Logger,
  ) {}

  private get name(): string {
    return `${this.projection.name}@${this.projection.version}`;
  }

  /** All rows, up to date. */
  async read(): Promise<ReadonlyMap<string, Row>> {
    const unwritten = await this.catchUp();
    const rows = new Map((await this.rows.rows(this.name)).map(({ key, value }) => [key, value]));
    return this.parsed(rows, unwritten);
  }

  /** The rows with keys that begin alike, up to date. */
  async readPrefix(prefix: string): Promise<ReadonlyMap<string, Row>> {
    const unwritten = await this.catchUp();
    const rows = new Map((await this.rows.rows(this.name, { prefix })).map(({ key, value }) => [key, value]));
    return this.parsed(rows, new Map([...unwritten].filter(([key]) => key.startsWith(prefix))));
  }

  /** Looks at the rows whose keys have a beginning, up to date, some at a time. */
  async scan(prefix: string, look: (row: Row, key: string) => void): Promise<void> {
    const unwritten = await this.catchUp();
    for (const [key, value] of unwritten) {
      if (value !== undefined && key.startsWith(prefix)) look(JSON.parse(value) as Row, key);
    }
    let from = '';
    for (;;) {
      const rows = await this.rows.rows(this.name, { prefix, from, limit: SCANNED });
      for (const { key, value } of rows) {
        if (key !== from && !unwritten.has(key)) look(JSON.parse(value) as Row, key);
      }
      const last = rows.at(-1)?.key;
      if (last === undefined || rows.length < SCANNED) return;
      from = last;
    }
  }

  /** The rows of some keys, up to date; a key without a row is left out. */
  async readKeys(keys: Iterable<string>): Promise<ReadonlyMap<string, Row>> {
    const unwritten = await this.catchUp();
    const rows = new Map<string, Row>();
    for (const key of keys) {
      const row = await this.stored(key, unwritten);
      if (row !== undefined) rows.set(key, row);
    }
    return rows;
  }

  /** Brings the rows up to date and removes those with keys that begin alike. */
  remove(prefix: string): Promise<void> {
    return this.removeWhere(prefix, () => true);
  }

  /** Brings the rows up to date and removes that of one key. */
  removeKey(key: string): Promise<void> {
    return this.removeWhere(key, (other) => other === key);
  }

  private async removeWhere(prefix: string, isMeant: (key: string) => boolean): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      await this.catchUp();
      const expected = await this.rows.checkpoint(this.name);
      const remove = (await this.rows.rows(this.name, { prefix })).map(({ key }) => key).filter(isMeant);
      if (expected === undefined || remove.length === 0) return;
      const { status } = await this.rows.commit(this.name, { expected, checkpoint: expected, put: [], remove });
      if (status === 'stored') return;
    }
    throw new PerdureError('PERDURE_STORE_CONTENDED', { session: prefix, tries: TRIES });
  }

  /** Brings the rows up to date, and tells up to which place of the store they are. */
  async place(): Promise<string | undefined> {
    await this.catchUp();
    return this.rows.checkpoint(this.name);
  }

  private catchUp(): Promise<Unwritten> {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(): Promise<Unwritten> {
    for (let tries = 0; tries < TRIES; tries++) {
      const unwritten = await this.advance();
      if (unwritten !== undefined) return unwritten;
    }
    return new Map();
  }

  /** Brings the projection to the present; `undefined` when another runner had moved it meanwhile. */
  private async advance(): Promise<Unwritten | undefined> {
    const unwritten = new Map<string, string | undefined>();
    let isWritten = true;
    let checkpoint = await this.rows.checkpoint(this.name);
    const source = checkpoint === undefined ? { all: true as const } : { all: true as const, after: checkpoint };
    const options = { categories: ['session'], types: this.projection.types };
    for await (const { facts, position } of readPast(this.store, source, options)) {
      if (position === undefined || position === checkpoint) continue;
      const { put, remove } = await this.fold(facts, unwritten);
      const change = { expected: checkpoint, checkpoint: position, put, remove };
      const status: WriteStatus = isWritten ? await this.commit(change) : 'unwritten';
      if (status === 'conflict') return undefined;
      isWritten = status === 'stored';
      if (isWritten) checkpoint = position;
      else {
        for (const { key, value } of put) unwritten.set(key, value);
        for (const key of remove) unwritten.set(key, undefined);
      }
    }
    // What is not written was made on top of rows that must not have moved.
    return isWritten || (await this.rows.checkpoint(this.name)) === checkpoint ? unwritten : undefined;
  }

  private async commit(change: ProjectionChange): Promise<WriteStatus> {
    try {
      return (await this.rows.commit(this.name, change)).status;
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_STORE_FULL') && !isPerdureError(error, 'PERDURE_STORE_READ_ONLY'))
        throw error;
      const data = { projection: this.name, reason: reasonOf(error) };
      this.logger.log('warn', 'A view of all sessions could not be stored; it is made anew each time.', data);
      return 'unwritten';
    }
  }

  private async fold(
    facts: readonly RecordedFact[],
    unwritten: Unwritten,
  ): Promise<Pick<ProjectionChange, 'put' | 'remove'>> {
    const changed = new Map<string, Row | undefined>();
    for (const recorded of facts) {
      const fact = projectedFact(recorded, this.facts);
      if (fact === undefined) continue;
      for (const key of this.projection.keys(fact)) {
        const row = changed.has(key) ? changed.get(key) : await this.stored(key, unwritten);
        const next = this.projection.evolve(row, fact, key);
        if (next !== undefined || row !== undefined) changed.set(key, next);
      }
    }
    const put: ProjectionRow[] = [];
    const remove: string[] = [];
    for (const [key, row] of changed) {
      if (row === undefined) remove.push(key);
      else put.push({ key, value: JSON.stringify(row) });
    }
    return { put, remove };
  }

  private parsed(rows: Map<string, string>, unwritten: Unwritten): ReadonlyMap<string, Row> {
    for (const [key, value] of unwritten) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
    return new Map(Array.from(rows, ([key, value]) => [key, JSON.parse(value) as Row]));
  }

  private async stored(key: string, unwritten: Unwritten): Promise<Row | undefined> {
    if (unwritten.has(key)) {
      const kept = unwritten.get(key);
      return kept === undefined ? undefined : (JSON.parse(kept) as Row);
    }
    const [row] = await this.rows.rows(this.name, { prefix: key, limit: 1 });
    return row?.key === key ? (JSON.parse(row.value) as Row) : undefined;
  }
}
