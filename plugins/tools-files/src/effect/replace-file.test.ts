import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Directory } from '../root/directory.js';
import { createRoot, withDirectory } from '../root/root.js';
import { anchorings, reconcile, temporaryWorkspace } from '../testing/temporary-workspace.js';
import { discardTemporary, publishByPlaceholder, replaceFile } from './replace-file.js';

const KEY = 'key-of-the-call';
const steps = ['createFile', 'look', 'rename', 'link', 'unlink', 'sync'] as const;
type Step = (typeof steps)[number];

/** A folder whose process dies at a step: neither this one nor a later one takes place. */
function dyingAt(directory: Directory, step: Step): Directory {
  let isDead = false;
  const guarded = <Arguments extends readonly unknown[], Result>(
    name: Step,
    work: (...given: Arguments) => Promise<Result>,
  ) => {
    return async (...given: Arguments): Promise<Result> => {
      isDead ||= name === step;
      if (isDead) throw new Error('killed');
      return work(...given);
    };
  };
  return {
    ...directory,
    createFile: guarded('createFile', directory.createFile),
    look: guarded('look', directory.look),
    rename: guarded('rename', directory.rename),
    link: guarded('link', directory.link),
    unlink: guarded('unlink', directory.unlink),
    sync: guarded('sync', directory.sync),
  };
}

const { signal } = new AbortController();

describe.each(anchorings)('with folders held by %s', (anchoring) => {
  test.each(['createFile', 'look', 'rename', 'unlink', 'sync'] as const)(
    'whoever dies at %s leaves the old content or all of the new one, and a resumed run cleans up',
    async (step) => {
      const { folder, tools, write } = temporaryWorkspace(anchoring);
      write('file.txt', 'old');
      const place = join(folder, 'file.txt');
      const replaces = statSync(place);
      const change = { name: 'file.txt', bytes: Buffer.from('new'), key: KEY, replaces, given: 'file.txt', signal };
      await withDirectory(createRoot(folder, anchoring), [], async (directory) => {
        await expect(replaceFile(dyingAt(directory, step), change)).rejects.toThrow('killed');
      });
      const happened = step === 'unlink' || step === 'sync';
      expect(readFileSync(place, 'utf8')).toBe(happened ? 'new' : 'old');
      const input = { file_path: 'file.txt', content: 'new', overwrite: true };
      expect((await reconcile(tools['write'], input, KEY)).status).toBe(happened ? 'happened' : 'voided');
      expect(readdirSync(folder)).toEqual(['file.txt']);
    },
  );

  test.each(['createFile', 'link', 'unlink'] as const)(
    'whoever dies at %s of a creation leaves no file or all of it',
    async (step) => {
      const { folder, tools } = temporaryWorkspace(anchoring);
      const change = { name: 'a.txt', bytes: Buffer.from('new'), key: KEY, given: 'a.txt', signal };
      await withDirectory(createRoot(folder, anchoring), [], async (directory) => {
        const dying = dyingAt(directory, step);
        await expect(replaceFile(dying, { ...change, replaces: undefined })).rejects.toThrow('killed');
      });
      const happened = step === 'unlink';
      expect((await reconcile(tools['write'], { file_path: 'a.txt', content: 'new' }, KEY)).status).toBe(
        happened ? 'happened' : 'voided',
      );
      expect(readdirSync(folder)).toEqual(happened ? ['a.txt'] : []);
    },
  );

  test('a run that was only paused cannot finish once its temporary file was removed', async () => {
    const { folder, write } = temporaryWorkspace(anchoring);
    write('file.txt', 'old');
    const replaces = statSync(join(folder, 'file.txt'));
    const change = { name: 'file.txt', bytes: Buffer.from('new'), key: KEY, replaces, given: 'file.txt', signal };
    await withDirectory(createRoot(folder, anchoring), [], async (directory) => {
      const paused: Directory = {
        ...directory,
        rename: async (from, to) => {
          await discardTemporary(directory, KEY, 'file.txt');
          return directory.rename(from, to);
        },
      };
      await expect(replaceFile(paused, change)).rejects.toMatchObject({ code: 'ENOENT' });
    });
    expect(readFileSync(join(folder, 'file.txt'), 'utf8')).toBe('old');
  });

  test('a file that changed since it was read is not replaced', async () => {
    const { folder, write } = temporaryWorkspace(anchoring);
    write('file.txt', 'old');
    const replaces = statSync(join(folder, 'file.txt'));
    writeFileSync(join(folder, 'file.txt'), 'of a person');
    const change = { name: 'file.txt', bytes: Buffer.from('new'), key: KEY, replaces, given: './file.txt', signal };
    await withDirectory(createRoot(folder, anchoring), [], async (directory) => {
      await expect(replaceFile(directory, change)).rejects.toMatchObject({
        code: 'file_changed',
        message: '"./file.txt" was changed meanwhile by something else; read it again.',
      });
    });
    expect(readFileSync(join(folder, 'file.txt'), 'utf8')).toBe('of a person');
    expect(readdirSync(folder)).toEqual(['file.txt']);
  });

  test('a call that is stopped before the file is in place changes nothing', async () => {
    const { folder } = temporaryWorkspace(anchoring);
    const change = { name: 'a.txt', bytes: Buffer.from('x'), key: KEY, replaces: undefined, given: 'a.txt' };
    await withDirectory(createRoot(folder, anchoring), [], async (directory) => {
      const stopped = replaceFile(directory, { ...change, signal: AbortSignal.abort() });
      await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a name can also be taken without hard links, and never from another file', async () => {
    const { folder, write } = temporaryWorkspace(anchoring);
    write('one.tmp', 'one');
    write('two.tmp', 'two');
    await withDirectory(createRoot(folder, anchoring), [], async (directory) => {
      await publishByPlaceholder(directory, 'one.tmp', 'a.txt');
      await expect(publishByPlaceholder(directory, 'two.tmp', 'a.txt')).rejects.toMatchObject({ code: 'EEXIST' });
    });
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one');
  });
});
