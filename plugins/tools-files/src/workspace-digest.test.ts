import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPerdureError } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { localWorkspaces } from './local-workspaces.js';
import { createRoot } from './root/root.js';
import { anchorings, temporaryWorkspace } from './testing/temporary-workspace.js';
import { workspaceDigest } from './workspace-digest.js';

function filled() {
  const workspace = temporaryWorkspace();
  workspace.write('src/app.ts', 'app');
  workspace.write('src/sub/b.ts', 'b');
  workspace.write('.gitignore', '*');
  symlinkSync('src', join(workspace.folder, 'link'));
  return workspace;
}

describe('the digest of a workspace', () => {
  test('is equal for equal names and contents, and the same on every machine', async () => {
    const [one, other] = [filled(), filled()];
    chmodSync(join(other.folder, 'src/app.ts'), 0o755);
    const digest = await localWorkspaces.digest(one.folder);
    expect(await localWorkspaces.digest(other.folder)).toBe(digest);
    expect(digest).toBe('sha256:64392e5c5c3e4136e7ad781731bfd72ebaa2a5d30bd806d7f47e3f212a77fe23');
  });

  test.each([
    ['a content', (folder: string) => writeFileSync(join(folder, 'src/app.ts'), 'App')],
    ['a name', (folder: string) => renameSync(join(folder, 'src/app.ts'), join(folder, 'src/App.ts'))],
    ['a place', (folder: string) => renameSync(join(folder, 'src/sub/b.ts'), join(folder, 'src/b.ts'))],
    ['an empty folder', (folder: string) => mkdirSync(join(folder, 'empty'))],
    ['a missing file', (folder: string) => rmSync(join(folder, '.gitignore'))],
    [
      'the target of a link',
      (folder: string) => (rmSync(join(folder, 'link')), symlinkSync('src/sub', join(folder, 'link'))),
    ],
    [
      'the kind of an entry',
      (folder: string) => (rmSync(join(folder, 'link')), writeFileSync(join(folder, 'link'), 'src')),
    ],
    ['a FIFO', (folder: string) => void execFileSync('mkfifo', [join(folder, 'fifo')])],
  ])('differs by %s', async (_, change) => {
    const { folder } = filled();
    const before = await localWorkspaces.digest(folder);
    change(folder);
    expect(await localWorkspaces.digest(folder)).not.toBe(before);
  });

  test('tells names apart that are not UTF-8', async () => {
    const digests = [0xfe, 0xff].map((byte) => {
      const { folder } = temporaryWorkspace();
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([byte])]), '');
      return localWorkspaces.digest(folder);
    });
    const [one, other] = await Promise.all(digests);
    expect(one).not.toBe(other);
  });

  test.each(anchorings)('is the same with folders held by %s', async (anchoring) => {
    const { folder } = filled();
    expect(await workspaceDigest(createRoot(folder, anchoring))).toBe(await localWorkspaces.digest(folder));
  });

  test('of large files is over all of them', async () => {
    const { folder, write } = temporaryWorkspace();
    write('large.bin', Buffer.alloc(700_000, 1));
    const before = await localWorkspaces.digest(folder);
    write('large.bin', Buffer.concat([Buffer.alloc(699_999, 1), Buffer.from([2])]));
    expect(await localWorkspaces.digest(folder)).not.toBe(before);
  });

  test('of a folder that is not there is a typed error', async () => {
    const error: unknown = await localWorkspaces.digest('/no/such/folder').catch((reason: unknown) => reason);
    expect(isPerdureError(error, 'PERDURE_SESSION_CONFIGURATION') && error.data['field']).toBe('workspace');
  });
});

describe('the name of a workspace', () => {
  test('is its real path', () => {
    const { folder, outside } = filled();
    symlinkSync(folder, join(outside, 'way'));
    expect(localWorkspaces.resolve(join(outside, 'way', 'src', '..'))).toBe(folder);
  });

  test.each(['', 'no/such/folder', '\0', 'FILE'])('%j is refused', (name) => {
    const { folder } = filled();
    const given = name === 'FILE' ? join(folder, '.gitignore') : name;
    let error: unknown;
    try {
      localWorkspaces.resolve(given);
    } catch (thrown) {
      error = thrown;
    }
    expect(isPerdureError(error, 'PERDURE_SESSION_CONFIGURATION') && error.data['field']).toBe('workspace');
  });
});
