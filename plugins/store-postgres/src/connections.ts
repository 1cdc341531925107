import { PerdureError } from '@perdure/plugin-api';
import pg from 'pg';
import type { Settings } from './options.js';
import { PatientPool } from './patient-pool.js';
import { endsConnection, storeError } from './postgres-error.js';

/** A statement that the server prepares once for each connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = readonly (string | number | boolean | Buffer | null)[];

/** Runs a statement, on whatever connection. */
export type Query = (statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

/** Runs statements on one connection, inside of a transaction. */
export interface Transaction {
  readonly query: Query;
}

/** The server may still cancel a query by itself: then it is known that nothing was done. Milliseconds. */
const GRACE = 1_000;

/** Connections that are not used are given back to the server after so long. Milliseconds. */
const IDLE = 30_000;

/** Looks at a connection before it is used. */
export type OnConnect = (
  query: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>,
) => Promise<void>;

/**
 * The connections to one server: one that appends, some for everything else, and those that listen. Every query has a
 * timer of ours: a connection that does not answer is given up. Nothing but PerdureError gets out, but of `append`.
 * What holds the password is private to the engine too, so that no log of the stores can show it.
 */
export class Connections {
  readonly #settings: Settings;
  readonly #onConnect: OnConnect;
  readonly #writer: PatientPool;
  readonly #others: PatientPool;
  private readonly abandon = new Set<() => void>();
  private isClosed = false;

  constructor(settings: Settings, onConnect: OnConnect) {
    this.#settings = settings;
    this.#onConnect = onConnect;
    this.#writer = this.pool(1);
    this.#others = this.pool(settings.connections);
  }

  /** Runs one statement. */
  async query(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.using(this.#others, (client) => this.timed(client, statement, values));
  }

  /** Runs statements that take effect together or not at all. */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.using(this.#others, async (client) => {
      await this.timed(client, { name: '', text: 'begin' }, []);
      try {
        const result = await work({ query: (statement, values) => this.timed(client, statement, values) });
        await this.timed(client, { name: '', text: 'commit' }, []);
        return result;
      } catch (error) {
        if (!endsConnection(error)) await this.timed(client, { name: '', text: 'rollback' }, []);
        throw error;
      }
    });
  }

  /**
   * Runs a statement that takes effect by itself, on the connection that appends. Rejects with a PerdureError when it
   * was never sent, and with what the client threw when it was.
   */
  async append(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const client = await this.connect(this.#writer);
    let failure: unknown;
    try {
      return await this.timed(client, statement, values);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      this.#writer.release(client, failure !== undefined && endsConnection(failure));
    }
  }

  /** Opens a connection that belongs to the caller, and is not counted. */
  async dedicated(): Promise<pg.Client> {
    this.checkOpen();
    const client = new pg.Client(this.clientConfig());
    client.on('error', () => undefined);
    try {
      await client.connect();
      await this.prepare(client);
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw storeError(error);
    }
  }

  /** Runs a query with a timer. On its end the connection is given up, and with it the query. */
  async timed(client: pg.ClientBase, { name, text }: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    let timer: NodeJS.Timeout | undefined;
    let onClose: (() => void) | undefined;
    const given = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`no answer for ${this.#settings.queryTimeoutMs} ms`)),
        this.#settings.queryTimeoutMs + GRACE,
      );
      onClose = () => reject(new PerdureError('PERDURE_STORE_CLOSED'));
      this.abandon.add(onClose);
    });
    try {
      const config = { ...(name === '' ? {} : { name }), text, values: [...values], rowMode: 'array' as const };
      const { rows } = await Promise.race([client.query<Row & unknown[]>(config), given]);
      return rows;
    } finally {
      clearTimeout(timer);
      if (onClose !== undefined) this.abandon.delete(onClose);
    }
  }

  /** Gives up what still runs, and ends all connections. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const abandon of this.abandon) abandon();
    await Promise.all([this.#writer.end(), this.#others.end()]);
  }

  private async using<Result>(pool: PatientPool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.connect(pool);
    let failure: unknown;
    try {
      return await work(client);
    } catch (error) {
      failure = error;
      throw storeError(error);
    } finally {
      pool.release(client, failure !== undefined && endsConnection(failure));
    }
  }

  private async connect(pool: PatientPool): Promise<pg.PoolClient> {
    this.checkOpen();
    try {
      return await pool.connect();
    } catch (error) {
      throw this.isClosed ? new PerdureError('PERDURE_STORE_CLOSED') : storeError(error);
    }
  }

  private pool(max: number): PatientPool {
    return new PatientPool({
      ...this.clientConfig(),
      max,
      idleTimeoutMillis: IDLE,
      verify: (client, done) => void this.verify(client, done),
    });
  }

  private async verify(client: pg.ClientBase, done: (error?: Error) => void): Promise<void> {
    let failure: Error | undefined;
    try {
      await this.prepare(client);
    } catch (error) {
      failure = storeError(error);
    }
    done(failure);
  }

  private clientConfig(): pg.ClientConfig {
    const { client, connectTimeoutMs } = this.#settings;
    return { ...client, connectionTimeoutMillis: connectTimeoutMs };
  }

  /** Plans must not depend on what the server happens to know of tables that grow from nothing. */
  private async prepare(client: pg.ClientBase): Promise<void> {
    client.on('error', () => undefined);
    const query = (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
      this.timed(client, { name: '', text }, values);
    await query(`set statement_timeout = ${this.#settings.queryTimeoutMs}; set client_encoding = 'UTF8'; set jit = off;
      set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set enable_bitmapscan = off;
      set enable_material = off; set default_transaction_isolation = 'read committed';
      select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`);
    await this.#onConnect(query);
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}
