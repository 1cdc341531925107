import { AccessDeniedError, type EventStoreDBClient } from '@eventstore/db-client';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificateIn, startEmulator, type Emulator } from '../index.js';
import { collect, counted, readWhole } from './events.fixture.js';
import { connect, isControllable, newStream } from './server.fixture.js';

const users = {
  admin: { password: 'change:it', isAdministrator: true },
  ana: { password: 'a', isAdministrator: false },
  bob: { password: 'b', isAdministrator: false },
};

// The users and the certificate of a real server are its own.
describe.runIf(isControllable)('a server with TLS and users', () => {
  let emulator: Emulator;
  let folder: string;
  const clients: EventStoreDBClient[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eventstoredb-'));
    const tls = await certificateIn(folder);
    emulator = await startEmulator({ folder: join(folder, 'events'), waitsForDisk: false, tls, users });
  });
  afterAll(async () => {
    for (const client of clients) await client.dispose();
    await emulator.close();
    await rm(folder, { recursive: true, force: true });
  });

  function as(name?: string, password?: string): EventStoreDBClient {
    const who = name === undefined ? '' : `${name}:${encodeURIComponent(password ?? '')}@`;
    const client = connect(emulator.connectionString.replace(/^esdb:\/\/[^@]*@/, `esdb://${who}`));
    clients.push(client);
    return client;
  }

  test('takes a client with its connection string', async () => {
    const client = connect(emulator.connectionString);
    clients.push(client);
    const stream = newStream();
    await client.appendToStream(stream, counted(0));
    expect(await readWhole(client, stream)).toHaveLength(1);
  });

  test('keeps its certificate', async () => {
    expect(await certificateIn(folder)).toEqual(await certificateIn(folder));
  });

  test('is not trusted by a client that does not know its certificate', async () => {
    const client = connect(`esdb://127.0.0.1:${emulator.port}?tls=true`);
    await expect(client.appendToStream(newStream(), counted(0))).rejects.toThrow(/self.signed certificate/);
  });

  test.each([
    ['nobody', undefined, undefined],
    ['a wrong secret', 'ana', 'x'],
    ['an unknown name', 'eve', 'a'],
    ['a name that every object has', 'constructor', 'a'],
  ])('denies everything to %s', async (_, name, password) => {
    const client = as(name, password);
    await expect(client.appendToStream(newStream(), counted(0))).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(readWhole(client, newStream())).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(client.deleteStream(newStream())).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(collect(client.subscribeToAll())).rejects.toBeInstanceOf(AccessDeniedError);
  });

  test('takes credentials of a single call', async () => {
    const credentials = { username: 'ana', password: 'a' };
    await expect(as().appendToStream(newStream(), counted(0), { credentials })).resolves.toMatchObject({
      success: true,
    });
  });

  test('gives $all and system streams to administrators only', async () => {
    const all = (client: EventStoreDBClient) => collect(client.readAll({ maxCount: 1 }));
    await expect(all(as('ana', 'a'))).rejects.toBeInstanceOf(AccessDeniedError);
    expect(await all(as('admin', 'change:it'))).toHaveLength(1);
    await expect(as('ana', 'a').appendToStream('$ours', counted(0))).rejects.toBeInstanceOf(AccessDeniedError);
  });

  test('keeps to the access list of a stream', async () => {
    const stream = newStream();
    const acl = { readRoles: ['ana', 'bob'], writeRoles: ['ana'], deleteRoles: ['$admins'], metaWriteRoles: ['ana'] };
    await as('ana', 'a').setStreamMetadata(stream, { acl: { ...acl, metaReadRoles: ['ana'] } });
    await as('ana', 'a').appendToStream(stream, counted(0));
    expect(await readWhole(as('bob', 'b'), stream)).toHaveLength(1);
    await expect(as('bob', 'b').appendToStream(stream, counted(1))).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(as('bob', 'b').setStreamMetadata(stream, {})).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(as('bob', 'b').getStreamMetadata(stream)).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(as('ana', 'a').deleteStream(stream)).rejects.toBeInstanceOf(AccessDeniedError);
    await as('admin', 'change:it').deleteStream(stream);
  });
});
