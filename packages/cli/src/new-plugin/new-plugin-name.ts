import { builtinModules } from 'node:module';
import { PerdureError } from '@perdure/plugin-api';

const LONGEST_NAME = 214;
/** One part of a package name: lower-case, URL-safe, and neither hidden nor a path. */
const PART = /^[a-z0-9][a-z0-9._-]*$/;
const FORBIDDEN = new Set(['node_modules', 'favicon.ico', ...builtinModules]);

/** Throws PERDURE_INPUT_INVALID with the field `name` unless npm would take it as the name of a package. */
export function checkNewPluginName(name: unknown): asserts name is string {
  const reason = problemOf(name);
  if (reason !== undefined) throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'name', reason });
}

function problemOf(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'it must be the name of a package';
  if (name.length > LONGEST_NAME) return `it must not be longer than ${LONGEST_NAME} characters`;
  const [, scope, own = ''] = /^(?:@([^/]*)\/)?(.*)$/s.exec(name) ?? [];
  for (const part of scope === undefined ? [own] : [scope, own]) {
    if (!PART.test(part)) {
      return 'it must be <name> or @<scope>/<name> of lower-case letters, digits, dots, dashes and underscores';
    }
  }
  return scope === undefined && FORBIDDEN.has(own) ? 'the name belongs to something else' : undefined;
}

/** The name of the plugin in a package: that of the package without its scope. */
export function pluginNameOf(packageName: string): string {
  return packageName.slice(packageName.lastIndexOf('/') + 1);
}
