import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  giveToOrdinaryUser,
  openEnclosure,
  runtimeUsers,
  SECRET,
  temporaryPlaces,
  type Enclosure,
} from './testing/enclosure.js';

describe.each(runtimeUsers)('paths of a runtime that is %s', (user) => {
  let enclosure: Enclosure;
  beforeAll(async () => (enclosure = await openEnclosure(user)));
  afterAll(() => enclosure?.close());

  /** A workspace with state in a folder that is two levels down, and a file beside it. */
  function workspaceWithState(): { workspace: string; outside: string; state: string; file: string } {
    const { workspace, outside } = temporaryPlaces(user);
    const state = join(workspace, 'deep/app/.state');
    mkdirSync(state, { recursive: true });
    const file = join(workspace, 'deep/app/settings.env');
    writeFileSync(join(state, 'store.db'), SECRET);
    writeFileSync(file, SECRET);
    giveToOrdinaryUser(join(workspace, 'deep'), join(workspace, 'deep/app'), state, file, join(state, 'store.db'));
    return { workspace, outside, state, file };
  }

  test('what is hidden cannot be read, written, listed or removed', async () => {
    const { workspace, state, file } = workspaceWithState();
    const script = `
      ls -A deep/app/.state; cat deep/app/.state/store.db deep/app/settings.env
      echo x >deep/app/.state/store.db; echo x >>deep/app/settings.env
      rm -rf deep/app/.state deep/app/settings.env; ls -A deep/app`;
    const { stdout, stderr } = await enclosure.run(workspace, script, { hidden: [state, file] });
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stderr).toContain('Read-only file system');
    expect(stdout.trim().split('\n').sort()).toEqual(['.state', 'settings.env']);
    expect(readFileSync(join(state, 'store.db'), 'utf8')).toBe(SECRET);
    expect(readFileSync(file, 'utf8')).toBe(SECRET);
  });

  test.each([
    ['itself', 'mv deep/app/.state deep/app/shown'],
    ['the folder that it is in', 'mv deep/app deep/shown'],
    ['the folder above that', 'mv deep shown'],
    [
      'the folder above that, with another in its place',
      'mkdir -p new/app/.state; mv --exchange deep new || mv deep old',
    ],
  ])('what is hidden is not seen by the next command when one renames %s', async (_, script) => {
    const { workspace, state, file } = workspaceWithState();
    const hidden = [state, file];
    const { stderr } = await enclosure.run(workspace, script, { hidden });
    expect(stderr).toMatch(/busy|cannot (?:move|remove)|Read-only/);
    const seen = await enclosure.run(workspace, 'grep -rs . . ; find . -name store.db', { hidden });
    expect(seen.stdout).not.toContain(SECRET);
    expect(seen.stdout).not.toContain('store.db');
    expect(readFileSync(join(state, 'store.db'), 'utf8')).toBe(SECRET);
  });

  test('beside what is hidden all can be changed', async () => {
    const { workspace, state } = workspaceWithState();
    const script =
      'echo a >deep/app/new && mv deep/app/new deep/app/newer && rm deep/app/settings.env && ls -A deep/app';
    const { stdout } = await enclosure.run(workspace, script, { hidden: [state] });
    expect(stdout.trim().split('\n').sort()).toEqual(['.state', 'newer']);
  });

  test('a hidden path that is not there is passed over', async () => {
    const { workspace } = temporaryPlaces(user);
    const hidden = [join(workspace, '.state'), join(workspace, 'no/such/folder')];
    expect((await enclosure.run(workspace, 'ls -A', { hidden })).stdout).toBe('');
  });

  test('a symbolic link as a hidden path, above one, or as the workspace is refused', async () => {
    const { workspace, outside, state } = workspaceWithState();
    symlinkSync(outside, join(workspace, 'link'));
    const refused = { code: 'PERDURE_SANDBOX_PATH' };
    await expect(enclosure.run(workspace, 'true', { hidden: [join(workspace, 'link')] })).rejects.toMatchObject(
      refused,
    );
    const below = [join(workspace, 'link/secret.txt')];
    await expect(enclosure.run(workspace, 'true', { hidden: below })).rejects.toMatchObject(refused);
    await expect(enclosure.run(workspace, 'true', { workingDirectory: join(workspace, 'link') })).rejects.toMatchObject(
      refused,
    );
    await expect(enclosure.run(workspace, 'true', { workingDirectory: state, hidden: [state] })).rejects.toMatchObject(
      refused,
    );
    const [linked, above] = [join(outside, '../linked'), join(outside, '../above')];
    symlinkSync(workspace, linked);
    symlinkSync(join(outside, '..'), above);
    await expect(enclosure.run(linked, 'true')).rejects.toMatchObject(refused);
    await expect(enclosure.run(join(above, 'workspace'), 'true')).rejects.toMatchObject(refused);
  });

  test('a workspace that is swapped with a link again and again leads nowhere else', async () => {
    const { workspace, outside } = temporaryPlaces(user);
    const kept = `${workspace}-kept`;
    let runs = 0;
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        renameSync(workspace, kept);
        symlinkSync(outside, workspace);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        rmSync(workspace);
        renameSync(kept, workspace);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 12));
      }
    })();
    for (let round = 0; round < 20; round++) {
      const ended = await enclosure.run(workspace, 'ls -A; cat secret.txt').catch((error: unknown) => error);
      expect(JSON.stringify(ended)).not.toContain(SECRET);
      if (!(ended instanceof Error)) runs += 1;
      // bwrap itself refuses when the swap comes between its looks.
      else expect(ended).toMatchObject({ code: expect.stringMatching(/^PERDURE_SANDBOX_/) as unknown });
    }
    isOver = true;
    await swapping;
    expect(runs).toBeGreaterThan(0);
  });

  test('a workspace can be read only', async () => {
    const { workspace, state } = workspaceWithState();
    const script = 'ls deep/app; echo x >new; echo x >deep/app/new; echo x >/tmp/new && echo temporary';
    const { stdout, stderr } = await enclosure.run(workspace, script, { readOnly: true, hidden: [state] });
    expect(stdout).toBe('settings.env\ntemporary\n');
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
  });

  test('files of the runtime can be changed, and programs that ask first are told so', async () => {
    const { workspace } = temporaryPlaces(user);
    const file = join(workspace, 'owned.txt');
    writeFileSync(file, 'a\n', { mode: 0o600 });
    giveToOrdinaryUser(file);
    const script = 'test -r owned.txt && test -w owned.txt && test -w . && echo b >>owned.txt && chmod 644 owned.txt';
    const { exit, stderr } = await enclosure.run(workspace, script);
    expect(stderr).toBe('');
    expect(exit.code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  });

  test('no program can be left behind that becomes its owner', async () => {
    const { workspace } = temporaryPlaces(user);
    const file = join(workspace, 'owned');
    writeFileSync(file, 'a', { mode: 0o755 });
    giveToOrdinaryUser(file);
    const script = `chmod 4755 owned; cp /usr/bin/id own; chmod u+s own
      perl -e 'sysopen(F, "new", 65, 04755) or print "no: $!"'`;
    const { stdout, stderr } = await enclosure.run(workspace, script);
    expect(stderr.match(/Operation not permitted/g)).toHaveLength(2);
    expect(stdout).toBe('no: Operation not permitted');
    for (const name of ['owned', 'own']) expect(statSync(join(workspace, name)).mode & 0o7000).toBe(0);
  });

  test('settings and hooks of git that a command planted do nothing to the next one', async () => {
    const { workspace, outside } = temporaryPlaces(user);
    const plant = `
      git init -q . && git config core.fsmonitor 'cat ${outside}/secret.txt'
      git config user.email a@b; git config user.name a
      printf '#!/bin/sh\\ncat ${outside}/secret.txt; echo hook ran as $(id -u)' >.git/hooks/post-commit
      chmod +x .git/hooks/post-commit
      echo a >a && git add a && git commit -qm a && git log --oneline | wc -l`;
    const { stdout, stderr } = await enclosure.run(workspace, plant);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stdout + stderr).toMatch(/hook ran as (?!0\b)|git: command not found/);
  });
});
