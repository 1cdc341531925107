import type { ShellConfiguration } from '../configuration.js';

/** The variables that a command sees: those that the configuration names, and no others of the runtime. */
export function commandEnvironment(
  { environment, variables }: Pick<ShellConfiguration, 'environment' | 'variables'>,
  ofRuntime: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const named = environment.flatMap((name) => {
    const value = ofRuntime[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(named), ...variables };
}
