import { expect, test } from 'vitest';
import { standsForAnother } from './placeholder.js';

test('a stand-in is told from a value', () => {
  for (const value of ['your-api-key', 'changeme', 'my_secret_value', '${TOKEN}', '********', '<your key>']) {
    expect(standsForAnother(value), value).toBe(true);
  }
  for (const value of ['your-4f9a8c2e71', 'hunter2hunter2']) expect(standsForAnother(value), value).toBe(false);
});

test('a value that is nearly a stand-in is looked at once, however long it is', () => {
  expect(standsForAnother(`your${'a'.repeat(100_000)}1`)).toBe(false);
  expect(standsForAnother(`my${'-a'.repeat(50_000)}1`)).toBe(false);
});
