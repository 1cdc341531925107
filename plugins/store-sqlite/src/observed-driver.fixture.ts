import type { SqliteConnection, SqliteDriver, SqliteStatement, SqliteValue } from './driver.js';

export interface ObservedCall {
  readonly verb: 'exec' | 'run' | 'get' | 'all';
  readonly sql: string;
  readonly connection: SqliteConnection;
}

/** A driver that tells of each statement before it runs. What `before` throws, the statement throws. */
export function observedDriver(driver: SqliteDriver, before: (call: ObservedCall) => void): SqliteDriver {
  class ObservedDatabase implements SqliteConnection {
    private readonly connection: SqliteConnection;

    constructor(path: string) {
      this.connection = new driver.DatabaseSync(path);
    }

    exec(sql: string): void {
      before({ verb: 'exec', sql, connection: this.connection });
      this.connection.exec(sql);
    }

    prepare(sql: string): SqliteStatement {
      return observedStatement(this.connection.prepare(sql), (verb) =>
        before({ verb, sql, connection: this.connection }),
      );
    }

    close(): void {
      this.connection.close();
    }
  }
  return { name: `observed ${driver.name}`, DatabaseSync: ObservedDatabase };
}

function observedStatement(statement: SqliteStatement, before: (verb: 'run' | 'get' | 'all') => void): SqliteStatement {
  return {
    run(...values: SqliteValue[]) {
      before('run');
      return statement.run(...values);
    },
    get(...values: SqliteValue[]) {
      before('get');
      return statement.get(...values);
    },
    all(...values: SqliteValue[]) {
      before('all');
      return statement.all(...values);
    },
    iterate(...values: SqliteValue[]) {
      before('all');
      return statement.iterate(...values);
    },
    setReturnArrays: (returnArrays) => statement.setReturnArrays?.(returnArrays),
  };
}
