import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFactIntact, sessionStream, type RecordedFact } from '@perdure/events';
import { defaultPlugins } from '@perdure/runtime';
import { openSqliteStores } from '@perdure/store-sqlite';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { hash } from 'node:crypto';
import { CliPlace, envelopesOf, jsonLines, type EndedProcess } from './cli-process.js';

const rounds = scriptByRound([
  { text: 'I look.', reasoning: 'where?', calls: [{ name: 'list', input: { path: '.' } }] },
  { text: 'Nothing there \u001b[31m.' },
]);

let server: ModelServer;
let place: CliPlace;
let store: string;
let model: readonly string[];
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script: rounds, models: ['small-1'] });
  store = place.path('state/perdure/perdure.db');
  model = ['--base-url', server.url, '--model-id', 'small-1'];
  const { code } = await place.run(['run', 'what is there?', '--session', 's', ...model, '--allow', 'write(x)']);
  expect(code).toBe(0);
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

const sessions = (...args: readonly string[]): Promise<EndedProcess> => place.run(['sessions', ...args]);

/** The session in another store, with the facts that are made of its own. */
async function rebuilt(
  name: string,
  change: (facts: readonly RecordedFact[]) => readonly RecordedFact[],
): Promise<string> {
  const stream = sessionStream({ id: 's' });
  const from = await openSqliteStores({ path: store });
  const { facts } = await from.events.read(stream);
  await from.close();
  const path = place.path(name);
  const to = await openSqliteStores({ path });
  expect((await to.events.append(stream, change(facts), { expected: 'none' })).status).toBe('stored');
  await to.close();
  return path;
}

describe('perdure sessions', () => {
  test('list shows what there is', async () => {
    const { out, code } = await sessions('list');
    expect(code).toBe(0);
    const [head = '', row = ''] = out.split('\n');
    expect(head).toMatch(/^ID +CHANGED +STATUS +TOKENS +AGENT +WORKSPACE +TITLE$/);
    expect(row).toMatch(/^s +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +ended +30 +perdure +\/.*workspace +what is there\?$/);
    expect(JSON.parse((await sessions('list', '--json')).out)).toMatchObject([
      { id: 's', status: 'idle', tenant: null },
    ]);
    expect((await sessions('list', '--limit', '0')).code).toBe(2);
  });

  test('show gives the transcript, harmless for a terminal', async () => {
    const { out } = await sessions('show', 's');
    for (const text of ['what is there?', 'where?', '→ list .', 'tool list completed', 'Nothing there \\x1b[31m.']) {
      expect(out).toContain(text);
    }
    expect(out).not.toContain('\u001b');
    const { messages } = JSON.parse((await sessions('show', 's', '--json')).out) as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('events give all envelopes, or those behind a cursor', async () => {
    const all = envelopesOf([...jsonLines((await sessions('events', 's', '--json')).out), 'no result']);
    expect(all[0]?.type).toBe('session_created');
    const cursor = String(all[4]?.metadata?.['cursor']);
    const rest = envelopesOf([...jsonLines((await sessions('events', 's', '--json', '--from', cursor)).out), 'none']);
    expect(rest).toEqual(all.slice(5));
    expect((await sessions('events', 's', '--from', 'nonsense')).error).toContain('PERDURE_CURSOR_INVALID');
    const facts = (await sessions('events', 's', '--facts', '--from', '1')).out.split('\n');
    expect(facts[0]).toMatch(/^ +1 {2}\d{4}-.*Z {2}[0-9a-f]{12} {2}PromptAccepted {5}\{"promptId"/);
  });

  test('events --follow goes on until Ctrl-C, and a reader that goes away ends it', async () => {
    const following = place.start(['sessions', 'events', 's', '--follow']);
    await following.until('ownership_released');
    const more = await place.run(['run', 'and now?', '--session', 's', ...model, '--allow', 'write(x)']);
    expect(more.code).toBe(0);
    await following.until('and now?');
    following.child.kill('SIGINT');
    expect((await following.ended).code).toBe(130);
    const reading = place.start(['sessions', 'events', 's', '--follow']);
    await reading.until('session_created');
    reading.child.stdout?.destroy();
    await place.run(['run', 'once more', '--session', 's', ...model, '--allow', 'write(x)']);
    expect(await reading.ended).toMatchObject({ code: 0, error: '' });
  });

  test('need no model, no key and no folder that still exists', async () => {
    place.write('other/x', '');
    const { code, out } = await place.run(['sessions', 'verify', 's', '-w', place.path('other'), '--store', store]);
    expect([code, out.split(':')[0]]).toEqual([0, 'verified']);
    expect(await sessions('show', 'none')).toMatchObject({ code: 2, out: '' });
  });
});

describe('JSON', () => {
  test('of every command is harmless for a terminal, and the same', async () => {
    const odd = '\u009b31m \u007f \u2028 \u202e txt.exe \u2066 \u200f';
    const file = place.path('odd.db');
    const inStore = ['--session', 'odd', '--store', file, '--allow', 'write(x)', '--json'];
    const outputs = [(await place.run(['run', odd, ...model, ...inStore])).out];
    const commands = [
      ['list', '--json'],
      ['show', 'odd', '--json'],
      ['events', 'odd', '--json'],
      ['events', 'odd', '--facts', '--json'],
      ['events', 'odd', '--facts'],
      ['export', 'odd'],
      ['export', 'odd', '--facts'],
    ];
    for (const command of commands) outputs.push((await sessions(...command, '--store', file)).out);
    const shown = outputs.map((out) => out.replaceAll('\n', ''));
    for (const out of shown) expect(out).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    for (const out of shown) expect(out).toContain('\\u009b31m');
    const { messages } = JSON.parse(outputs[2] ?? '') as { messages: unknown[] };
    expect(messages[0]).toMatchObject({ role: 'user', parts: [{ type: 'text', text: odd }] });
  });
});

describe('proof', () => {
  test('an anchor holds as long as the chain leads to it', async () => {
    const file = place.path('anchor.json');
    expect((await sessions('anchor', 's', '--out', file)).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse((await sessions('anchor', 's')).out));
    const verified = await sessions('verify', 's', '--anchor', file);
    expect(verified.out).toMatch(/verified: \d+ facts.*\n.*hash [0-9a-f]{64}\nthe anchor at revision \d+ is part/);
    const cut = await rebuilt('cut.db', (facts) => facts.slice(0, -2));
    expect((await sessions('verify', 's', '--store', cut)).code).toBe(0);
    const missed = await sessions('verify', 's', '--store', cut, '--anchor', file);
    expect([missed.code, missed.error]).toEqual([4, expect.stringContaining('PERDURE_ANCHOR_MISMATCH')]);
    writeFileSync(file, '{"version":1}');
    expect((await sessions('verify', 's', '--anchor', file)).error).toContain('anchor.stream');
  });

  test('a changed fact is exit code 4 and named by its revision', async () => {
    const changed = await rebuilt('changed.db', (facts) =>
      facts.map((fact) => (fact.revision === 1 ? { ...fact, payload: fact.payload.replace('what', 'WHAT') } : fact)),
    );
    const { code, error } = await sessions('verify', 's', '--store', changed, '--json');
    expect(code).toBe(4);
    expect(jsonLines(error)).toMatchObject([{ error: { code: 'PERDURE_CHAIN_BROKEN' } }]);
    expect(error).toContain('revision 1');
  });

  test('replay decides the same, and names the first fact that other rules would have made another', async () => {
    const same = await sessions('replay', 's', '--verify', '--allow', 'write(x)');
    expect([same.code, same.error]).toEqual([0, '']);
    expect(same.out).toMatch(
      /facts, of them \d+ inputs and \d+ derived again\nstate sha256:[0-9a-f]{64}\nno difference\n$/,
    );
    const other = await sessions('replay', 's', ...model);
    expect(other.code).toBe(4);
    expect(other.out).toContain('difference at revision 5: StepStarted setup.policy');
    expect(other.error).toContain('PERDURE_REPLAY_DIFFERS');
    const recorded = await sessions('replay', 's', ...model, '--recorded-rules', '--verify');
    expect([recorded.code, recorded.error]).toEqual([0, '']);
    const model2 = ['--base-url', server.url, '--model-id', 'another'];
    const json = await sessions('replay', 's', '--allow', 'write(x)', ...model2, '--json');
    expect(json.code).toBe(4);
    expect(JSON.parse(json.out)).toMatchObject({ difference: { type: 'StepStarted', path: 'setup.model.modelId' } });
  });

  test('export gives the exchange form, and with it every fact to the letter', async () => {
    const snapshot = JSON.parse((await sessions('export', 's')).out) as { session: { revision: number; hash: string } };
    expect(snapshot).toMatchObject({ schema_version: 1, session: { id: 's', state: 'Completed' } });
    const file = place.path('export.jsonl');
    await sessions('export', 's', '--facts', '--out', file);
    const [first, ...rest] = jsonLines(readFileSync(file, 'utf8'));
    const { revision, hash: end } = snapshot.session;
    expect(first).toEqual({
      format: 'perdure.session-facts',
      version: 1,
      tenant: null,
      session: 's',
      revision,
      hash: end,
    });
    const facts = rest as readonly RecordedFact[];
    expect(facts.length).toBe(snapshot.session.revision + 1);
    for (const fact of facts) expect(isFactIntact(fact, (text) => hash('sha256', text, 'hex'))).toBe(true);
    expect(facts.at(-1)?.metadata).toContain(snapshot.session.hash);
    expect((await sessions('export', 's', '--out', place.path('no/such/folder/x'))).code).toBe(2);
  });
});

describe('upkeep', () => {
  test('doctor says that all is well, and what is not', async () => {
    const well = await place.run(['doctor', ...model]);
    expect(well.code).toBe(0);
    const checks = well.out.split('\n').map((line) => line.slice(0, 14).trim());
    for (const name of ['node', 'sqlite', 'ripgrep', 'config', 'plugins', 'rules', 'state', 'store', 'model']) {
      expect(checks).toContain(`ok    ${name}`);
    }
    const gone = await startModelServer({ script: [] });
    await gone.close();
    const unreachable = await place.run(['doctor', '--base-url', gone.url, '--model-id', 'x', '--json']);
    expect(unreachable.code).toBe(1);
    const [failed] = (JSON.parse(unreachable.out) as { level: string }[]).filter(({ level }) => level === 'fail');
    expect(failed).toMatchObject({ name: 'model', fix: expect.stringContaining('Check') as unknown });
  });

  test('doctor finds a lost end, and goes on without it only when told to', async () => {
    const short = await rebuilt('short.db', (facts) => facts);
    const before = place.path('before.db');
    copyFileSync(short, before);
    const more = await openSqliteStores({ path: short });
    const { facts } = await more.events.read(sessionStream({ id: 's' }));
    const last = facts.at(-1) as RecordedFact;
    const id = '00000000-0000-4000-8000-000000000001';
    await more.events.append(last.stream, [{ ...last, id }], { expected: last.revision });
    await more.close();
    // The file is put back to what it was; the witness beside it knows of more.
    copyFileSync(before, short);
    expect((await sessions('list', '--store', short)).code).toBe(5);
    const found = await place.run(['doctor', '--store', short]);
    expect([found.code, found.out]).toEqual([5, expect.stringContaining('doctor --accept-loss')]);
    const refused = await place.run(['doctor', '--store', short, '--accept-loss']);
    expect([refused.code, refused.error]).toEqual([2, expect.stringContaining('are gone')]);
    expect((await place.run(['doctor', '--store', short, '--accept-loss', '--yes'])).code).toBe(0);
    expect((await sessions('verify', 's', '--store', short)).code).toBe(0);
  });

  test('plugins are listed from their manifests, and new ones begun', async () => {
    const listed = JSON.parse((await place.run(['plugins', 'list', '--json'])).out) as { name: string; kind: string }[];
    const added = ['policy-budget', 'tools-delegate'];
    expect(listed.map(({ name }) => name)).toEqual([...defaultPlugins.map(({ name }) => name), ...added]);
    place.write('workspace/node_modules/@acme/tools-weather/package.json', '{"name":"x","perdure":{"api":1}}');
    place.write('workspace/node_modules/left-pad/package.json', '{"name":"left-pad"}');
    const more = await place.run(['plugins', 'list']);
    expect(more.out).toMatch(/@acme\/tools-weather +\? +installed +The plugin "@acme\/tools-weather" is not valid at/);
    expect(more.out).not.toContain('left-pad');
    const made = await place.run(['plugins', 'new', 'tools-weather', '--dir', place.path('made')]);
    expect([made.code, made.error]).toEqual([0, expect.stringContaining('npm install && npm test')]);
    const manifest = JSON.parse(readFileSync(place.path('made/package.json'), 'utf8')) as { perdure: unknown };
    expect(manifest.perdure).toEqual({ plugin: '.', api: 1, provides: ['tools'] });
    expect((await place.run(['plugins', 'new', 'tools-weather', '--dir', place.path('made')])).code).toBe(2);
    expect((await place.run(['plugins', 'new', 'a', '--port', 'nonsense'])).error).toContain('--port');
  });
});
