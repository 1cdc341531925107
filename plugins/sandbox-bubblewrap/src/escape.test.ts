import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  openEnclosure,
  runtimeUsers,
  SECRET,
  temporaryPlaces,
  type Enclosure,
  type Places,
} from './testing/enclosure.js';
import { escapeAttempts } from './testing/escape-attempts.js';
import { openHost, type Host } from './testing/host.js';

describe.each(runtimeUsers)('a command of a runtime that is %s', (user) => {
  let places: Places;
  let enclosure: Enclosure;
  let host: Host;
  beforeAll(async () => {
    places = temporaryPlaces(user);
    enclosure = await openEnclosure(user);
    host = await openHost(places, user);
  });
  afterAll(async () => {
    await enclosure?.close();
    await host?.close();
  });

  test.each(escapeAttempts.map((attempt) => [attempt.name, attempt] as const))('%s', async (_, attempt) => {
    const { outside } = places;
    const fresh = temporaryPlaces(user);
    const script = attempt.script
      .replaceAll('@OUTSIDE@', outside)
      .replaceAll('@SOCKET@', host.socketPath)
      .replaceAll('@ABSTRACT@', host.abstractName)
      .replaceAll('@PORT@', String(host.port))
      .replaceAll('@VICTIM@', String(host.victim.pid));
    const { stdout, stderr, exit } = await enclosure.run(fresh.workspace, script);
    const told = `${stdout}\n${stderr}`;
    expect(told, 'nothing of the host is told').not.toContain(SECRET);
    expect(told).not.toContain('ESCAPED');
    expect(told, 'the attempt came to its end').toMatch(attempt.meets);
    if (attempt.ends !== undefined) expect(attempt.ends).toContain(exit.code);
    expect(host.connections()).toBe(0);
    expect(host.victim.exitCode ?? host.victim.signalCode, 'the process of the host lives').toBeNull();
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(readdirSync(outside).sort()).toEqual(['host.sock', 'secret.txt']);
    expect(existsSync('/usr/perdure-escaped') || existsSync('/etc/perdure-escaped')).toBe(false);
  });
});
