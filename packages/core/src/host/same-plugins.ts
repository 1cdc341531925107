import type { ActivePlugin } from '@perdure/events';

export function isSamePlugins(a: readonly ActivePlugin[], b: readonly ActivePlugin[]): boolean {
  return a.length === b.length && a.every(({ digest }, index) => digest === b[index]?.digest);
}
