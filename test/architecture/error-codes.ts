import { errorTable } from '@perdure/plugin-api';
import { isTestCode, type WorkspaceFile } from './workspace.js';

const TABLE = 'packages/plugin-api/src/errors/table.ts';
const CODE = /\bPERDURE_[A-Z][A-Z0-9_]*/g;

/** Variables of the environment, which are named alike. */
const VARIABLES = new Set([
  'PERDURE_API_KEY',
  'PERDURE_CALL_ID',
  'PERDURE_DEBUG',
  'PERDURE_KAFKA_AWAY_MS',
  'PERDURE_KAFKA_FULL',
  'PERDURE_KILLS',
  'PERDURE_POSTGRES_URL',
]);

/** Codes of the table that no shipped source uses. */
export function unusedCodes(files: readonly WorkspaceFile[]): readonly string[] {
  const used = new Set(
    files.filter(({ path }) => path !== TABLE && !isTestCode(path)).flatMap(({ text }) => text.match(CODE) ?? []),
  );
  return Object.keys(errorTable).filter((code) => !used.has(code));
}

/** Codes that a source names and the table lacks, with the place. */
export function unknownCodes(files: readonly WorkspaceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !isTestCode(path))
    .flatMap(({ path, text }) => [...new Set(text.match(CODE))].map((code) => ({ path, code })))
    .filter(({ code }) => !isKnown(code))
    .map(({ path, code }) => `${path}: ${code}`);
}

/** A code, a variable, or the beginning of codes, as in `code.startsWith('PERDURE_STORE_')`. */
function isKnown(name: string): boolean {
  if (name.endsWith('_')) return Object.keys(errorTable).some((code) => code.startsWith(name));
  return Object.hasOwn(errorTable, name) || VARIABLES.has(name);
}
