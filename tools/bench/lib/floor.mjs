// The floor of a durable loop: one SQLite commit (WAL, FULL) for each message, on the same driver that Perdure uses.
// No validation, no fencing, no hash, no stream.
import { join } from 'node:path';
import { defaultDriver } from '@perdure/store-sqlite';
import { decide, lookup, hooks } from './work.mjs';

export async function openFloor(folder) {
  const { DatabaseSync } = await defaultDriver();
  const db = new DatabaseSync(join(folder, 'floor.db'));
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;');
  db.exec(
    'CREATE TABLE IF NOT EXISTS event(session TEXT, seq INTEGER, body TEXT, PRIMARY KEY(session, seq)) WITHOUT ROWID',
  );
  const insert = db.prepare('INSERT INTO event VALUES(?,?,?)');
  const all = db.prepare('SELECT body FROM event WHERE session=? ORDER BY seq');
  const load = (id) => all.all(id).map((row) => JSON.parse(row.body));

  async function run(id, history) {
    let seq = history.length;
    const keep = (message) => {
      history.push(message);
      insert.run(id, seq++, JSON.stringify(message));
    };
    for (;;) {
      let index = history.length - 1;
      let since = 0;
      for (; history[index].role !== 'user'; index--) if (history[index].role === 'tool') since++;
      hooks.onModelCall?.();
      const answer = decide(history[index].text, since);
      keep(
        answer.call === undefined ? { role: 'assistant', text: answer.text } : { role: 'assistant', tool: answer.call },
      );
      if (answer.call === undefined) return answer.text;
      keep({ role: 'tool', text: await lookup(answer.call) });
    }
  }

  return {
    async turn(id, text) {
      const history = load(id);
      const message = { role: 'user', text };
      insert.run(id, history.length, JSON.stringify(message));
      history.push(message);
      return run(id, history);
    },
    seed(id, messages) {
      db.exec('BEGIN');
      messages.forEach((message, seq) => insert.run(id, seq, JSON.stringify(message)));
      db.exec('COMMIT');
    },
    async close() {
      db.close();
    },
  };
}
