import { crc32 } from 'node:zlib';
import type { Database, RowStatement } from './database.js';
import { damaged } from './sqlite-error.js';

/** What the row of a stream says. */
export interface StreamRow {
  readonly id: number;
  /** The last revision; of a draft or lease, the last one that was truncated. */
  readonly head: number;
  /** The first revision that was not truncated. */
  readonly cut: number;
}

/** Names are remembered up to this many, then forgotten and looked up again. */
const REMEMBERED = 50_000;

/**
 * The streams by name. Rows are never deleted.
 *
 * Each row is sealed, and before the absence of a name is believed for the first time, the whole table is checked once:
 * a damaged name must not turn a session into one that never was.
 */
export class StreamTable {
  private readonly database: Database;
  private readonly table: string;
  private readonly byName: RowStatement<readonly unknown[]>;
  private readonly byId: RowStatement<readonly unknown[]>;
  private readonly insertRow: RowStatement<[]>;
  private readonly moveCut: RowStatement<[]>;

  private readonly ids = new Map<string, number>();
  private readonly names = new Map<number, string>();
  private rollbacks = 0;
  private isChecked = false;

  constructor(database: Database, table: 'stream' | 'weak_stream') {
    this.database = database;
    this.table = table;
    this.byName = database.prepare(`select id, head, cut, seal from ${table} where name = ?`);
    this.byId = database.prepare(`select name, cut, seal from ${table} where id = ?`);
    this.insertRow = database.prepare(`insert into ${table} (name, head, cut, seal) values (?, -1, 0, ?)`);
    this.moveCut = database.prepare(`update ${table} set head = ?, cut = ?, seal = ? where id = ?`);
  }

  find(name: string): StreamRow | undefined {
    const row = this.byName.get(name);
    if (row === undefined) {
      this.checkNames();
      return undefined;
    }
    const [id, head, cut, seal] = row;
    if (!isWhole(id) || !isWhole(head) || !isWhole(cut) || seal !== streamSeal(name, cut)) throw damagedEntry(name);
    this.remember(name, id);
    return { id, head, cut };
  }

  /** The id of a stream that was met before, without a look at the table. */
  knownId(name: string): number | undefined {
    this.forgetUndone();
    return this.ids.get(name);
  }

  nameOf(id: number): string {
    this.forgetUndone();
    const known = this.names.get(id);
    if (known !== undefined) return known;
    const [name, cut, seal] = this.byId.get(id) ?? [];
    if (typeof name !== 'string' || !isWhole(cut) || seal !== streamSeal(name, cut)) {
      throw damaged(`the stream ${id} has no name`);
    }
    this.remember(name, id);
    return name;
  }

  /** Makes a stream whose first fact is still to come, in the same transaction. */
  insert(name: string): number {
    const id = Number(this.insertRow.run(name, streamSeal(name, 0)).lastInsertRowid);
    this.remember(name, id);
    return id;
  }

  truncate(name: string, id: number, head: number, cut: number): void {
    this.moveCut.run(head, cut, streamSeal(name, cut), id);
  }

  /** Every stream, as the table has it. */
  *all(): Iterable<StreamRow & { readonly name: string }> {
    const rows = this.database.prepare<readonly unknown[]>(`select id, name, head, cut, seal from ${this.table}`);
    for (const [id, name, head, cut, seal] of rows.iterate()) {
      if (typeof name !== 'string' || !isWhole(id) || !isWhole(head) || !isWhole(cut)) throw damagedEntry(this.table);
      if (seal !== streamSeal(name, cut)) throw damagedEntry(name);
      yield { id, name, head, cut };
    }
  }

  private checkNames(): void {
    if (this.isChecked) return;
    const verdict = this.database.prepare<[unknown]>(`pragma integrity_check(${this.table})`).all();
    if (verdict.length !== 1 || verdict[0]?.[0] !== 'ok') throw damaged('the list of streams is not consistent');
    for (const _ of this.all());
    this.isChecked = true;
  }

  private remember(name: string, id: number): void {
    this.forgetUndone();
    if (this.ids.size >= REMEMBERED) this.forget();
    this.ids.set(name, id);
    this.names.set(id, name);
  }

  /** A stream that was made in a transaction that was undone is none. */
  private forgetUndone(): void {
    if (this.rollbacks === this.database.rollbacks) return;
    this.rollbacks = this.database.rollbacks;
    this.forget();
  }

  private forget(): void {
    this.ids.clear();
    this.names.clear();
  }
}

/** Proves a stream's name and cut. */
function streamSeal(name: string, cut: number): number {
  return crc32(`${cut} ${name}`) | 0;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function damagedEntry(name: string): Error {
  return damaged('the entry in the list of streams is not what was written', name);
}
