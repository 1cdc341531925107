import { describe, expect, test } from 'vitest';
import { exportPins } from './exported-names.js';
import { paths, readText } from './workspace.js';

const pins = exportPins();

describe('exported names', () => {
  test.each(pins.map((pin) => [pin.path, pin] as const))('%s is what the package exports', (path, pin) => {
    expect(readText(path), 'Run `npm run pins` when the change is meant.').toBe(pin.text);
  });

  test('every pin belongs to a package', () => {
    const known = new Set(pins.map(({ path }) => path));
    expect(paths.filter((path) => path.startsWith('test/architecture/exports/') && !known.has(path))).toEqual([]);
  });

  test('values and types are told apart', () => {
    const api = pins.find(({ path }) => path.endsWith('/plugin-api.txt'))?.text.split('\n');
    expect(api).toContain('definePlugin');
    expect(api).toContain('EventStore (type)');
  });
});
