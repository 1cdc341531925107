import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PerdureError, type NodePresence } from '@perdure/plugin-api';
import type { SqliteConnection, SqliteDriver } from './driver.js';
import { checkName } from '@perdure/plugin-api/store-input';
import { makeFile } from './make-file.js';
import { guarded, isBusy, storeError } from './sqlite-error.js';

/** Milliseconds that an announcement waits for those who are just looking. */
const ANNOUNCE_WITHIN = 2_000;

/**
 * A node's mark is an exclusive lock on a small database of its own. The system releases it when the process dies,
 * however it dies.
 */
export class SqlitePresence implements NodePresence {
  private readonly driver: SqliteDriver;
  private readonly folder: string;
  private readonly held = new Set<SqliteConnection>();

  constructor(driver: SqliteDriver, folder: string) {
    this.driver = driver;
    this.folder = folder;
  }

  async announce(node: string): Promise<() => Promise<void>> {
    checkName('node', node);
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      const file = this.fileOf(node);
      makeFile(file);
      const mark = new this.driver.DatabaseSync(file);
      this.hold(mark, node);
      return async () => this.release(mark);
    } catch (error) {
      throw storeError(error);
    }
  }

  async isPresent(node: string): Promise<boolean | undefined> {
    checkName('node', node);
    const file = this.fileOf(node);
    if (!existsSync(file)) return undefined;
    return guarded(() => {
      const probe = new this.driver.DatabaseSync(file);
      try {
        // Reading takes a shared lock, so that two who look at a dead node do not see each other.
        probe.exec('pragma busy_timeout = 0; begin; select count(*) from sqlite_schema; commit');
        return false;
      } catch (error) {
        if (isBusy(error)) return true;
        throw error;
      } finally {
        probe.close();
      }
    });
  }

  /** Gives up all marks of this process. */
  releaseAll(): void {
    for (const mark of this.held) this.release(mark);
  }

  private hold(mark: SqliteConnection, node: string): void {
    try {
      mark.exec(`pragma busy_timeout = ${ANNOUNCE_WITHIN}; begin exclusive`);
      this.held.add(mark);
    } catch (error) {
      mark.close();
      if (!isBusy(error)) throw error;
      throw new PerdureError('PERDURE_NODE_RUNNING', { node }, { cause: error });
    }
  }

  private release(mark: SqliteConnection): void {
    if (!this.held.delete(mark)) return;
    mark.exec('rollback');
    mark.close();
  }

  private fileOf(node: string): string {
    return join(this.folder, `${encodeURIComponent(node).replaceAll('.', '%2E').replaceAll('*', '%2A')}.db`);
  }
}
