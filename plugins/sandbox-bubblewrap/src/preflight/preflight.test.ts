import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createBubblewrapSandbox } from '../index.js';
import { explainFailure } from './explain-failure.js';
import { findProgram } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-preflight-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program in the place of bwrap. */
function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const NEW_HELP = 'echo "--bind-fd --ro-bind-fd --size --perms --disable-userns "';
const command = {
  argv: ['true'],
  workspace: folder,
  workingDirectory: folder,
  environment: {},
  limits: { processes: 9, memoryBytes: 1e9, fileBytes: 1e9, cpuSeconds: 9, temporaryBytes: 1e9 },
};

describe('preflight', () => {
  test('finds this machine usable', async () => {
    const report = await createBubblewrapSandbox().preflight();
    expect(report, 'These tests need a machine on which bubblewrap works.').toEqual({ usable: true, issues: [] });
  });

  test.each([
    ['missing_command', () => join(folder, 'nothing')],
    ['version_too_old', () => program('old', 'echo "bubblewrap 0.4.0 --bind --size"')],
    ['broken_command', () => program('broken', 'exit 1')],
    [
      'enclosure_failed',
      () => program('failing', `[ "$1" = --help ] && ${NEW_HELP} || { echo "bwrap: no" >&2; exit 1; }`),
    ],
  ])('says %s, and no command is run', async (code, path) => {
    const given = path();
    if (code === 'enclosure_failed') {
      program('failing', `case $1 in --help) ${NEW_HELP};; --version) echo 1;; *) echo "bwrap: no" >&2; exit 1;; esac`);
    }
    const sandbox = createBubblewrapSandbox({ program: given });
    const { usable, issues } = await sandbox.preflight();
    expect(usable).toBe(false);
    expect(issues.map((issue) => issue.code)).toEqual([code]);
    expect(issues[0]?.fixes.length).toBeGreaterThan(0);
    await expect(sandbox.start(command)).rejects.toMatchObject({ code: 'PERDURE_SANDBOX_UNAVAILABLE' });
  });

  test('is not deceived by a program that runs commands without closing them in', async () => {
    const script = `
      case $1 in
        --help) ${NEW_HELP} ;;
        --version) echo 'bubblewrap 9' ;;
        *) printf '{ "child-pid": %s }' $$ >&4; while [ "$1" != -- ]; do shift; done; shift
           while [ "$1" != /usr/bin/bash ]; do shift; done; exec "$@" ;;
      esac`;
    const report = await createBubblewrapSandbox({ program: program('open', script) }).preflight();
    expect(report.usable).toBe(false);
    await expect(createBubblewrapSandbox({ program: join(folder, 'open') }).start(command)).rejects.toMatchObject({
      code: 'PERDURE_SANDBOX_UNAVAILABLE',
    });
  });

  test('a machine that was put right is usable without a new start', async () => {
    const path = join(folder, 'later');
    const sandbox = createBubblewrapSandbox({ program: path });
    expect((await sandbox.preflight()).usable).toBe(false);
    program('later', `exec ${findProgram()} "$@"`);
    expect(await sandbox.preflight()).toEqual({ usable: true, issues: [] });
  });

  test('does not look for bwrap in PATH', () => {
    const usual = process.env['PATH'];
    program('bwrap', 'exit 0');
    process.env['PATH'] = folder;
    try {
      expect(findProgram()).not.toContain(folder);
    } finally {
      process.env['PATH'] = usual;
    }
  });
});

describe('an explanation', () => {
  const settings = (values: Readonly<Record<string, string>>) => (path: string) => values[path];

  test.each([
    ['/proc/sys/user/max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces'],
    ['/proc/sys/kernel/unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
    ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1', 'AppArmor'],
  ])('of a system with %s at %s names what to do', (path, value, fix) => {
    const issue = explainFailure('bwrap: Creating new namespace failed', settings({ [path]: value }));
    expect(issue.code).toBe('user_namespaces_disabled');
    expect(issue.fixes.join(' ')).toContain(fix);
  });

  test('of anything else gives what bwrap said and all that may help', () => {
    const issue = explainFailure('bwrap: Disk on fire', settings({}));
    expect(issue).toMatchObject({ code: 'enclosure_failed' });
    expect(issue.message).toContain('Disk on fire');
    expect(issue.fixes.length).toBeGreaterThan(2);
  });
});
