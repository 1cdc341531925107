import { PerdureError } from '@perdure/plugin-api';
import { eventStoreSources } from './event-store-sources.js';
import { checkNewPluginName } from './new-plugin-name.js';
import { projectFiles } from './project-files.js';
import { toolsSources } from './tools-sources.js';

/** What a new plugin can provide to begin with. */
export const newPluginPorts = ['event-store', 'tools'] as const;
export type NewPluginPort = (typeof newPluginPorts)[number];

export interface NewPlugin {
  /** Name of the package, with or without a scope. */
  readonly name: string;
  readonly port: NewPluginPort;
  /** Exact version of the Perdure packages that the plugin is made for. */
  readonly version: string;
  readonly description?: string;
}

const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
const SOURCES = { 'event-store': eventStoreSources, tools: toolsSources } as const;

/**
 * The files of a new plugin package that stands on its own, by path: after `npm install` it builds, and its tests pass.
 * Throws PERDURE_INPUT_INVALID with the field that is not valid.
 */
export function newPluginFiles({ name, port, version, description }: NewPlugin): ReadonlyMap<string, string> {
  checkNewPluginName(name);
  if (!newPluginPorts.includes(port)) throw invalid('port', `it must be one of ${newPluginPorts.join(', ')}`);
  if (!EXACT_VERSION.test(version)) throw invalid('version', 'it must be an exact version');
  if (description !== undefined && /[^\P{C}]/u.test(description)) throw invalid('description', 'it must be one line');
  const sources = SOURCES[port](name);
  return new Map([
    ...projectFiles({ name, version, description: description ?? sources.summary, sources }),
    ...sources.files,
  ]);
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
