// The servers of a bench: started when the first row needs them, on free ports, and stopped at the end. A server that
// cannot be had is said loudly, and the contenders that need it are left out.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { spawnEmulator } from '@perdure/eventstoredb-emulator';
import { startPostgresServer } from '@perdure/testing';

/** Which server a contender needs: `raw-postgres` is the client alone on the same server as `postgres`. */
export function serverOf(contender) {
  const name = contender.replace('raw-', '');
  return ['postgres', 'emulator', 'eventstoredb'].includes(name) ? name : undefined;
}

export class Servers {
  #root;
  #postgres;
  #emulator;
  #missing = new Set();

  constructor(root) {
    this.#root = root;
  }

  /** The contenders of a row whose servers are there; the emulator of each row is an empty one. */
  async begin(contenders) {
    const names = new Set(contenders.map(serverOf));
    if (names.has('postgres') && !this.#missing.has('postgres')) await this.#startPostgres();
    if (names.has('emulator')) {
      const folder = mkdtempSync(join(this.#root, 'emulator-'));
      this.#emulator = await spawnEmulator(['--port', '0', '--folder', folder]);
    }
    return contenders.filter((contender) => this.has(serverOf(contender)));
  }

  has(server) {
    return server === undefined || this.addresses()[server] !== undefined;
  }

  addresses() {
    return {
      postgres: this.#postgres?.url,
      emulator: this.#emulator?.connectionString,
      eventstoredb: process.env['EVENTSTOREDB_URL'],
    };
  }

  /** The row is over. */
  async end() {
    await this.#emulator?.end();
    this.#emulator = undefined;
  }

  async stop() {
    await this.end();
    await this.#postgres?.stop();
  }

  async #startPostgres() {
    try {
      this.#postgres ??= await startPostgresServer();
    } catch (error) {
      this.#missing.add('postgres');
      console.error(`\n!!!!!! NO POSTGRESQL: its rows are left out. ${error.message}\n`);
    }
  }
}
