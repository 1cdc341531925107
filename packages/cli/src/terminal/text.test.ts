import { describe, expect, test } from 'vitest';
import { shellQuote } from '../turn/shell-quote.js';
import { createStyle, isColorWanted } from './ansi.js';
import { callLabel } from './call-label.js';
import { jsonText } from './json-text.js';
import { formatTable } from './table.js';
import { visible, visibleLine } from './visible.js';

describe('text for a terminal', () => {
  test('shows control characters instead of obeying them', () => {
    expect(visible('a\tb\r\nc\u001b[0m\u0007\u009b\u2066d\u200f')).toBe('a\tb\nc\\x1b[0m\\x07\\x9b\\u2066d\u200f');
    expect(visibleLine('one\n  two\rthree', 40)).toBe('one ⏎ two\\x0dthree');
    expect(visibleLine('0123456789', 5)).toBe('0123…');
  });

  test('that is JSON holds nothing that a terminal obeys, and is the same JSON', () => {
    const codes = [0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029];
    const odd = String.fromCharCode(...codes, 0x202a, 0x202e, 0x2066, 0x2069);
    const value = { [odd]: odd, plain: 'ä\u00a0→😀' };
    expect(jsonText(value)).toContain('\\u007f\\u0080\\u009b');
    expect(jsonText(value)).toContain('ä\u00a0→😀');
    expect(jsonText(value)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(jsonText(value, 2))).toEqual(value);
    expect(jsonText(undefined)).toBe('null');
  });

  test('is colored only where it may be', () => {
    const terminal = { isTTY: true };
    expect(isColorWanted(terminal, {}, true)).toBe(true);
    expect(isColorWanted(terminal, { NO_COLOR: '' }, true)).toBe(true);
    expect(isColorWanted(terminal, { NO_COLOR: '1' }, true)).toBe(false);
    expect(isColorWanted(terminal, { TERM: 'dumb' }, true)).toBe(false);
    expect(isColorWanted(terminal, {}, false)).toBe(false);
    expect(isColorWanted({}, {}, true)).toBe(false);
    expect(createStyle(false).red('x')).toBe('x');
    expect(createStyle(true).red('x')).toBe('\u001b[31mx\u001b[39m');
  });
});

describe('words', () => {
  test('are quoted so that a shell takes them literally', () => {
    expect(shellQuote('src/a-b.ts')).toBe('src/a-b.ts');
    expect(shellQuote('write(src/**)')).toBe(`'write(src/**)'`);
    expect(shellQuote(`it's`)).toBe(`'it'\\''s'`);
    expect(shellQuote('')).toBe(`''`);
  });

  test('stand for a call', () => {
    expect(callLabel('read', { file_path: 'a.txt', limit: 3 }, 80)).toBe('read a.txt');
    expect(callLabel('add', { a: 1 }, 80)).toBe('add {"a":1}');
    expect(callLabel('now', {}, 80)).toBe('now');
    expect(callLabel('say', 'hello', 80)).toBe('say hello');
  });

  test('stand in columns', () => {
    const rows = [
      ['ID', 'WHAT'],
      ['long-id', 'x\ny'],
    ];
    expect(formatTable(rows, 40)).toEqual(['ID       WHAT', 'long-id  x ⏎ y']);
    expect(formatTable(rows, 10)).toEqual(['ID       …', 'long-id  …']);
  });
});
