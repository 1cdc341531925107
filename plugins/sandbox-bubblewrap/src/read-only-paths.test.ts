import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.js';
import { testLimits } from './testing/enclosure.js';
import { runToEnd } from './testing/run-to-end.js';

test('a command writes to its workspace, and only reads a folder that the host names beside it [R28]', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-read-only-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  chmodSync(base, 0o755);
  const [workspace, library, other] = [join(base, 'workspace'), join(base, 'library'), join(base, 'other')];
  for (const folder of [workspace, library, other]) mkdirSync(folder);
  writeFileSync(join(library, 'book.txt'), 'to be read');
  writeFileSync(join(other, 'book.txt'), 'not to be read');
  // Who the command is may not be who made them.
  for (const folder of [workspace, library, other]) chmodSync(folder, 0o777);
  const sandbox = createBubblewrapSandbox({ readOnlyPaths: [library] });
  const script = `
    cat ${library}/book.txt; cat ${other}/book.txt
    echo x >${library}/made.txt; echo x >${library}/book.txt; rm ${library}/book.txt
    echo made >made.txt`;
  const { stdout, stderr } = await runToEnd(sandbox, {
    argv: ['/bin/sh', '-c', script],
    workspace,
    workingDirectory: workspace,
    environment: {},
    limits: testLimits,
  });
  expect(stdout).toBe('to be read');
  expect(stderr).toContain('Read-only file system');
  expect(readFileSync(join(workspace, 'made.txt'), 'utf8')).toBe('made\n');
  expect(readFileSync(join(library, 'book.txt'), 'utf8')).toBe('to be read');
  expect(existsSync(join(library, 'made.txt'))).toBe(false);
});
