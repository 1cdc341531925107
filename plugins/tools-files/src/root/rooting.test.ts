import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, failure, anchorings, temporaryWorkspace } from '../testing/temporary-workspace.js';

const SECRET = 'the secret';

function workspaceWithLinks(anchoring: (typeof anchorings)[number]) {
  const workspace = temporaryWorkspace(anchoring);
  const { folder, outside, write } = workspace;
  writeFileSync(join(outside, 'secret.txt'), SECRET);
  write('real/inner.txt', 'inner');
  symlinkSync(outside, join(folder, 'out'));
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'out.txt'));
  symlinkSync('real', join(folder, 'alias'));
  symlinkSync('real/inner.txt', join(folder, 'alias.txt'));
  symlinkSync('missing', join(folder, 'dangling'));
  symlinkSync('../../outside', join(folder, 'real', 'up'));
  return workspace;
}

describe.each(anchorings)('with folders held by %s', (anchoring) => {
  test('links are refused at every component, wherever they lead [R27]', async () => {
    const { tools } = workspaceWithLinks(anchoring);
    const linked = ['out.txt', 'alias.txt', 'dangling', 'out/secret.txt', 'alias/inner.txt', 'real/up/secret.txt'];
    for (const file_path of linked) {
      expect(await failure(tools['read'], { file_path }), file_path).toBe('sandbox_denied');
      expect(await failure(tools['write'], { file_path, content: 'x' }), file_path).toBe('sandbox_denied');
      expect(await failure(tools['write'], { file_path, content: 'x', overwrite: true })).toBe('sandbox_denied');
      const edits = [{ old_text: 'e', new_text: 'f' }];
      expect(await failure(tools['edit'], { file_path, edits }), file_path).toBe('sandbox_denied');
      expect(await failure(tools['grep'], { query: 'e', path: file_path }), file_path).toBe('sandbox_denied');
    }
    for (const path of ['out', 'alias', 'real/up']) {
      expect(await failure(tools['list'], { path }), path).toBe('sandbox_denied');
      expect(await failure(tools['find'], { path, pattern: '**' }), path).toBe('sandbox_denied');
      expect(await failure(tools['grep'], { path, query: 'e' }), path).toBe('sandbox_denied');
      const file_path = `${path}/new/file.txt`;
      expect(await failure(tools['write'], { file_path, content: 'x' }), path).toBe('sandbox_denied');
    }
  });

  test('nothing outside is changed by what was refused, and nothing inside either', async () => {
    const { tools, folder, outside } = workspaceWithLinks(anchoring);
    const before = readdirSync(folder);
    await failure(tools['write'], { file_path: 'out/new.txt', content: 'x' });
    await failure(tools['write'], { file_path: 'out/secret.txt', content: 'x', overwrite: true });
    await failure(tools['write'], { file_path: 'out.txt', content: 'x', overwrite: true });
    await failure(tools['write'], { file_path: '../outside/new.txt', content: 'x' });
    await failure(tools['write'], { file_path: join(outside, 'new.txt'), content: 'x' });
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(readdirSync(folder)).toEqual(before);
  });

  test('a link is told by name and target in a list, and passed over by searches', async () => {
    const { tools } = workspaceWithLinks(anchoring);
    const { entries } = await call(tools['list'], {});
    expect(entries).toContainEqual({ name: 'alias', kind: 'symlink', target: 'real' });
    expect((await call(tools['find'], { pattern: '**/*' }))['files']).toEqual(['real/inner.txt']);
    const { matches } = await call(tools['grep'], { query: 'e' });
    expect(matches).toMatchObject([{ path: 'real/inner.txt' }]);
  });

  test('an absolute path is taken inside the workspace and refused outside [R27]', async () => {
    const { tools, folder, outside } = workspaceWithLinks(anchoring);
    const inside = await call(tools['read'], { file_path: join(folder, 'real/inner.txt') });
    expect(inside).toMatchObject({ file_path: 'real/inner.txt', content: 'inner' });
    expect(await failure(tools['read'], { file_path: join(outside, 'secret.txt') })).toBe('sandbox_denied');
    expect(await failure(tools['read'], { file_path: '/proc/self/environ' })).toBe('sandbox_denied');
  });

  test('FIFOs, devices and sockets are told, not opened, and nobody waits for them', async () => {
    const { tools, folder } = temporaryWorkspace(anchoring);
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
    try {
      for (const file_path of ['fifo', 'socket']) {
        expect(await failure(tools['read'], { file_path }), file_path).toBe('not_a_file');
        expect(await failure(tools['write'], { file_path, content: 'x', overwrite: true })).toBe('not_a_file');
        expect(await failure(tools['grep'], { path: file_path, query: 'x' }), file_path).toBe('not_a_file');
      }
      const { entries } = await call(tools['list'], {});
      expect(entries).toEqual([
        { name: 'fifo', kind: 'other' },
        { name: 'socket', kind: 'other' },
      ]);
      expect((await call(tools['grep'], { query: 'x' }))['matches']).toEqual([]);
    } finally {
      server.close();
    }
  });

  test('a .gitignore that leads elsewhere has no effect', async () => {
    const { tools, folder, outside, write } = temporaryWorkspace(anchoring);
    writeFileSync(join(outside, 'rules'), '*');
    write('a.txt', 'a');
    symlinkSync(join(outside, 'rules'), join(folder, '.gitignore'));
    expect((await call(tools['find'], { pattern: '*' }))['files']).toEqual(['a.txt']);
  });

  test('to replace a file that has another name elsewhere leaves the other one as it was', async () => {
    const { tools, folder, outside } = temporaryWorkspace(anchoring);
    writeFileSync(join(outside, 'shared.txt'), 'shared');
    linkSync(join(outside, 'shared.txt'), join(folder, 'shared.txt'));
    await call(tools['write'], { file_path: 'shared.txt', content: 'mine', overwrite: true });
    expect(readFileSync(join(outside, 'shared.txt'), 'utf8')).toBe('shared');
  });

  test('a workspace whose place was taken by a link is not used', async () => {
    const { tools, folder, outside } = temporaryWorkspace(anchoring);
    writeFileSync(join(outside, 'secret.txt'), SECRET);
    execFileSync('rmdir', [folder]);
    symlinkSync(outside, folder);
    expect(await failure(tools['read'], { file_path: 'secret.txt' })).toBe('path_not_found');
    expect(await failure(tools['write'], { file_path: 'new.txt', content: 'x' })).toBe('path_not_found');
    expect(await failure(tools['list'], {})).toBe('path_not_found');
  });

  test('a workspace below a link is not used', async () => {
    const { tools, folder, outside } = temporaryWorkspace(anchoring);
    const base = join(folder, '..');
    mkdirSync(join(outside, 'workspace'));
    writeFileSync(join(outside, 'workspace', 'secret.txt'), SECRET);
    execFileSync('mv', [base, `${base}-moved`]);
    symlinkSync(`${base}-moved/outside`, base);
    try {
      expect(await failure(tools['read'], { file_path: 'secret.txt' })).toBe('path_not_found');
    } finally {
      execFileSync('rm', ['-r', base, `${base}-moved`]);
    }
  });
});
