import type { ShellConfiguration } from '../configuration.js';

/**
 * The variables that a command sees: those that the configuration names, no others of the runtime, and those of the
 * session, which come first. Variables of the loader are handed in from nowhere.
 */
export function commandEnvironment(
  { environment, variables }: Pick<ShellConfiguration, 'environment' | 'variables'>,
  ofRuntime: Readonly<Record<string, string | undefined>>,
  ofSession: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const named = environment.flatMap((name) => {
    const value = ofRuntime[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const own = Object.entries(ofSession).filter(([name]) => !name.startsWith('LD_'));
  return { ...Object.fromEntries(named), ...variables, ...Object.fromEntries(own) };
}
