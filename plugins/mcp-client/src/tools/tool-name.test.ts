import { expect, test } from 'vitest';
import { toolName } from './tool-name.js';

test('a name is plain where it can be, and never that of another tool', () => {
  expect(toolName('files', 'read_file')).toBe('mcp__files__read_file');
  const others = ['read file', 'read/file', 'read.file', 'läs', '', 'n'.repeat(64), `${'n'.repeat(64)}x`];
  const names = others.map((tool) => toolName('files', tool));
  expect(new Set(names).size).toBe(others.length);
  for (const name of names) expect(name).toMatch(/^mcp__files__[A-Za-z0-9_-]*_[0-9a-f]{8}$/);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
  expect(toolName('s'.repeat(32), 't'.repeat(200))).toHaveLength(64);
});
