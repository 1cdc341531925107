import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listArtifacts, type PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { draftStream, sessionStream } from '@perdure/events';
import type { Session } from '@perdure/plugin-api';
import { CliPlace } from '../e2e/cli-process.js';
import { factsIn } from '../fixtures/budgets.js';
import { leakingModel, leakingRuntime, leakingTools, planted, REGISTERED } from '../fixtures/leaking-agent.js';
import { foundIn } from '../fixtures/planted.js';
import { waitUntil } from '../fixtures/wait-until.js';

const secrets: Readonly<Record<string, string>> = { ...planted, registered: REGISTERED };
const base = mkdtempSync(join(tmpdir(), 'perdure-everywhere-'));
const made: { command?: CliPlace } = {};
beforeAll(async () => {
  made.command = (await CliPlace.builder())();
}, 60_000);
afterAll(() => {
  made.command?.remove();
  rmSync(base, { recursive: true, force: true });
});

/** What there is at each of the places at which it is looked, as one text. */
type Places = Record<string, string>;

/** Every file of the folder: the database, what is written ahead of it, snapshots. */
function filesOf(folder: string, when: string): Places {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'latin1')] as const);
  return Object.fromEntries(texts.map(([name, text]) => [`${name} ${when}`, text]));
}

async function streamOf({ services: { store } }: PerdureRuntime, stream: string): Promise<string> {
  return JSON.stringify(await factsIn(store, stream));
}

/** The texts of a draft's batches, joined: where one ends is of no account. */
async function draftOf({ services: { store } }: PerdureRuntime): Promise<string> {
  const facts = await factsIn(store, draftStream({ id: 's' }));
  const runs = facts.flatMap(
    ({ payload }) => (payload as { readonly runs: readonly { readonly text?: string }[] }).runs,
  );
  return runs.map(({ text = '' }) => text).join('');
}

async function artifactsOf({ services: { store } }: PerdureRuntime, session: Session): Promise<string> {
  const texts: string[] = [];
  for (const { digest } of await listArtifacts(store, sessionStream({ id: session.id }))) {
    texts.push(Buffer.from((await session.artifact(digest)) ?? []).toString('latin1'));
  }
  return texts.join('\n');
}

async function eventsOf(session: Session): Promise<string> {
  const seen: unknown[] = [];
  for await (const event of session.events()) {
    seen.push(event);
    if (event.type === 'agent_end') break;
  }
  return JSON.stringify(seen);
}

interface Look {
  readonly places: Places;
  /** What a tool was given, before the runtime began anew and behind it. */
  readonly sent: readonly string[];
  readonly sentAgain: readonly string[];
}

const none: Look = { places: {}, sent: [], sentAgain: [] };

/** Runs an agent that leaks what it can, and looks at everything that is left of it. */
async function everywhere(guarded: boolean): Promise<Look> {
  const folder = join(base, guarded ? 'guarded' : 'bare');
  const sent: string[] = [];
  const sentAgain: string[] = [];
  const logged: string[] = [];
  const told: string[] = [];
  const places: Places = {};
  const { label = '', title = '', prompt = '', attachment = '', environment = '', filename = '' } = planted;

  const first = await createTestRuntime(leakingRuntime(folder, guarded, logged));
  const definition = { id: 'clerk', model: leakingModel(guarded), limits: { maxOutputCharacters: 2_000 } };
  const agent = first.agent({ ...definition, tools: leakingTools(sent) as never });
  await agent.ready();
  const env = { API_KEY: environment };
  const session = await agent.sessions.create({ sessionId: 's', correlationId: label, title: `On ${title}`, env });
  session.subscribe((mutation) => {
    told.push(JSON.stringify(mutation));
  });
  session.subscribe(() => {
    throw new Error(`a listener was told ${REGISTERED}, ${prompt}`);
  });
  const file = { type: 'file', mediaType: 'text/plain', filename: `${filename}.txt` } as const;
  const data = Buffer.from(`a: 1\nb: ${attachment}\n`).toString('base64');
  const turn = await session.prompt({ query: `root ${prompt} ${REGISTERED}`, attachments: [{ ...file, data }] });
  await waitUntil(async () => (await draftOf(first)).includes('My '));
  places['draft'] = await draftOf(first);
  const result = await turn.finished;
  expect(result.status).toBe('completed');
  places['result'] = JSON.stringify(result);
  places['mutations'] = told.join('\n');
  places['envelopes'] = await eventsOf(session);
  places['messages'] = JSON.stringify([(await session.messages()).items, await session.info()]);
  places['artifacts'] = await artifactsOf(first, session);
  // Enough facts for a state snapshot when the session is let go.
  const event = { type: 'peer_invocation', from_session_id: 'peer', correlation_id: label } as const;
  await Promise.all(Array.from({ length: 200 }, () => session.emit(event)));
  await session.save();
  const children = (await agent.sessions.list({ parent: 's' })).items.map(({ id }) => id);
  expect(children).toHaveLength(guarded ? 1 : 2);
  for (const [index, id] of children.entries()) {
    const child = await agent.sessions.get(id);
    places[`stream of child ${index}`] = await streamOf(first, sessionStream({ id }));
    places[`envelopes of child ${index}`] = await eventsOf(child);
    await child.save();
  }
  first.services.logger.log('warn', `said ${planted['error']}`, { reason: Buffer.from(REGISTERED).toString('base64') });
  // Before the store closes: what is written ahead lies in a file of its own.
  Object.assign(places, filesOf(folder, 'while it runs'));
  await first.dispose();

  const second = await createTestRuntime(leakingRuntime(folder, guarded, logged));
  const reopened = second.agent({ ...definition, tools: leakingTools(sentAgain) as never });
  const opened = await reopened.sessions.get('s');
  places['state snapshot'] = JSON.stringify(await second.services.projections?.rows('state:_.s'));
  places['outcomes'] = JSON.stringify([
    await opened.tool('send', { auth: guarded ? 'secret://TOKEN' : REGISTERED }),
    await opened.tool('send', { auth: planted['arguments'] ?? '' }),
    await opened.tool('fail', {}),
  ]);
  await second.dispose();
  Object.assign(places, filesOf(folder, 'at the end'), { logs: logged.join('\n') });
  await addExports(places, join(folder, 'perdure.db'), children[0] ?? '');
  return { places, sent: sent, sentAgain: sentAgain };
}

/** What the command, a process of its own, makes of the store. */
async function addExports(places: Places, store: string, child: string): Promise<void> {
  const exports = {
    'snapshot of s': ['s'],
    'facts of s': ['s', '--format', 'facts'],
    'facts of a child': [child, '--facts'],
  };
  for (const [name, args] of Object.entries(exports)) {
    const ended = await made.command?.run(['sessions', 'export', ...args, '--store', store]);
    expect([name, ended?.code, ended?.error]).toEqual([name, 0, '']);
    places[`exported ${name}`] = ended?.out ?? '';
  }
}

/** Files of the store that tell of nothing that is in sessions. */
const isBeside = (place: string): boolean => /^(?:perdure\.db-(?:tail|shm)|.*\.db(?:-journal)?) /.test(place);

describe('secrets that are planted everywhere [P16] [P16/context]', () => {
  const looks: Record<'bare' | 'guarded', Look> = { bare: none, guarded: none };
  beforeAll(async () => {
    looks.bare = await everywhere(false);
    looks.guarded = await everywhere(true);
  }, 120_000);

  test('are at each of the places where the plugin is left out: it is looked where they would be', () => {
    const { places } = looks.bare;
    const found = Object.entries(places).map(([place, text]) => [place, foundIn(text, secrets)] as const);
    const empty = found.filter(([place, names]) => names.length === 0 && !isBeside(place));
    // Closing the store moves what was written ahead into the database.
    expect(empty.map(([place]) => place)).toEqual(['perdure.db-wal at the end']);
    expect(Object.keys(secrets).filter((name) => !found.some(([, names]) => names.includes(name)))).toEqual([]);
    const stored = found.find(([place]) => place === 'perdure.db at the end')?.[1] ?? [];
    expect(Object.keys(secrets).filter((name) => !stored.includes(name))).toEqual([]);
  });

  test('are nowhere with it, at the same places, and no place is empty', () => {
    const { places } = looks.guarded;
    const plain = (names: readonly string[]): readonly string[] =>
      names.filter((name) => !/child_|child 1|^vm-|-(?:shm|journal) |-nodes/.test(name)).toSorted();
    expect(plain(Object.keys(places))).toEqual(plain(Object.keys(looks.bare.places)));
    const left = Object.entries(places).map(([place, text]) => [place, foundIn(text, secrets)] as const);
    expect(left.filter(([, names]) => names.length > 0)).toEqual([]);
    for (const place of ['perdure.db-wal while it runs', 'perdure.db-tail while it runs', 'draft', 'state snapshot']) {
      expect([place, (places[place] ?? '').length > 20]).toEqual([place, true]);
    }
    expect(places['artifacts']).toMatch(/ \[redacted:github-token\] so \[redacted/);
    expect(places['exported facts of a child']).toContain('secret://TOKEN');
  });

  test('but a registered one worked in a tool, before and behind the restart', () => {
    expect([looks.guarded.sent, looks.guarded.sentAgain]).toEqual([[REGISTERED], [REGISTERED]]);
    expect(looks.bare.sent).toEqual([planted['arguments'], REGISTERED]);
    const outcomes = JSON.parse(looks.guarded.places['outcomes'] ?? '[]') as { failure?: { code: string } }[];
    expect(outcomes.map(({ failure }) => failure?.code)).toEqual([
      undefined,
      'PERDURE_SECRET_IN_ARGUMENTS',
      'PERDURE_TOOL_FAILED',
    ]);
  });
});
