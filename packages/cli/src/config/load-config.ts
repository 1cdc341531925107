import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';
import { checkConfig } from './check-config.js';
import type { PerdureConfig } from './perdure-config.js';

/**
 * Reads a configuration file: JSON is parsed, `.mjs` imported, `.ts` imported through tsx, which all versions of Node
 * can do. Throws PERDURE_CONFIGURATION naming the file, and the field when one is wrong.
 *
 * @param file absolute path
 */
export async function loadConfig(file: string): Promise<PerdureConfig> {
  let value: unknown;
  try {
    value = await readValue(file);
  } catch (error) {
    if (isPerdureError(error)) throw error;
    const reason = `${file} cannot be loaded: ${reasonOf(error)}`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'config', reason, file }, { cause: error });
  }
  return checkConfig(value, file);
}

async function readValue(file: string): Promise<unknown> {
  if (!existsSync(file)) {
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'config', reason: `there is no file ${file}`, file });
  }
  if (file.endsWith('.json')) return JSON.parse(await readFile(file, 'utf8'));
  const url = pathToFileURL(file).href;
  if (file.endsWith('.mjs')) return exported(await import(url), file);
  if (!file.endsWith('.ts'))
    throw new PerdureError('PERDURE_CONFIGURATION', {
      field: 'config',
      reason: `${file} is neither .ts, .mjs nor .json`,
    });
  const { tsImport } = await import('tsx/esm/api');
  return exported(await tsImport(url, import.meta.url), file);
}

/** The default export. A `.ts` file of a CommonJS package has it one level deeper. */
function exported(module: unknown, file: string): unknown {
  const value = memberDefault(module);
  if (value === undefined) {
    throw new PerdureError('PERDURE_CONFIGURATION', {
      field: 'default',
      reason: `${file} exports no configuration`,
      file,
    });
  }
  return memberDefault(value) ?? value;
}

function memberDefault(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'default' in value ? value.default : undefined;
}
