import { visibleLine } from './visible.js';

/** Rows in columns that fit; the last column takes what is left. The first row is the head. */
export function formatTable(rows: readonly (readonly string[])[], width: number): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const clean = rows.map((row) => row.map((cell) => visibleLine(cell, 400)));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(0, ...clean.map((row) => (row[index] ?? '').length)),
  );
  return clean.map((row) => {
    const cells = row.map((cell, index) => (index === columns - 1 ? cell : cell.padEnd(widths[index] ?? 0)));
    return visibleLine(cells.join('  ').trimEnd(), width);
  });
}
