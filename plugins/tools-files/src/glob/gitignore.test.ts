import { describe, expect, test } from 'vitest';
import { isIgnored, parseIgnoreFile } from './gitignore.js';

function ignores(rules: string, path: string): boolean {
  const isDirectory = path.endsWith('/');
  return isIgnored([parseIgnoreFile(rules, 0)], path.replace(/\/$/, '').split('/'), isDirectory);
}

describe('a rule', () => {
  test.each([
    ['dist', 'dist/', true],
    ['dist', 'a/dist', true],
    ['dist/', 'dist', false],
    ['dist/', 'a/dist/', true],
    ['/dist', 'a/dist', false],
    ['/dist', 'dist', true],
    ['a/b', 'a/b', true],
    ['a/b', 'x/a/b', false],
    ['*.log', 'a/x.log', true],
    ['*.log', '.log', true],
    ['a/*', 'a/b/c', false],
    ['a/**', 'a/b/c', true],
    ['a/**', 'a/', false],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['a/**/x', 'a/x', true],
    ['#a', '#a', false],
    ['\\#a', '#a', true],
    ['\\!a', '!a', true],
    ['a ', 'a', true],
    ['a\\ ', 'a ', true],
    ['a\r', 'a', true],
    ['x\\*y', 'x*y', true],
    ['x\\*y', 'xay', false],
    ['[ab]c', 'bc', true],
    ['[', '[', false],
    ['a\\', 'a', false],
    ['', 'a', false],
    ['/', 'a', false],
    ['!', 'a', false],
    ['{a,b}', 'a', false],
    ['\ufeffa', 'a', true],
  ])('%j and %j: %s', (rules, path, expected) => {
    expect(ignores(rules, path)).toBe(expected);
  });
});

test('the last rule that matches decides', () => {
  expect(ignores('*.log\n!keep.log', 'keep.log')).toBe(false);
  expect(ignores('!keep.log\n*.log', 'keep.log')).toBe(true);
});

test('rules of deeper files come after and refer to their own folder', () => {
  const files = [parseIgnoreFile('*.log\n/top', 0), parseIgnoreFile('!b.log\n/top\n/own', 1)];
  expect(isIgnored(files, ['sub', 'a.log'], false)).toBe(true);
  expect(isIgnored(files, ['sub', 'b.log'], false)).toBe(false);
  expect(isIgnored(files, ['sub', 'own'], false)).toBe(true);
  expect(isIgnored(files, ['sub', 'deep', 'own'], false)).toBe(false);
});

test('rules that are chosen to be slow decide nothing', () => {
  const slow = Array.from({ length: 3000 }, () => `**/${'*a'.repeat(100)}b`).join('\n');
  const path = Array.from({ length: 100 }, () => 'a'.repeat(250));
  expect(isIgnored([parseIgnoreFile(`${slow}\n`, 0)], path, false)).toBe(false);
});
