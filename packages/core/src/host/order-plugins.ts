import { PerdureError, type Token } from '@perdure/plugin-api';
import type { ConfiguredPlugin } from './load-plugins.js';

/**
 * Checks that plugins fit together and puts providers before those who need them, else in the order given. All problems
 * are reported together: one is thrown as it is, several as PERDURE_PLUGINS_INVALID with all of them in its cause.
 *
 * @param available tokens that are provided already, by the host or a parent container
 */
export function orderPlugins(
  plugins: readonly ConfiguredPlugin[],
  available: readonly Token<unknown>[],
): readonly ConfiguredPlugin[] {
  const problems = [...duplicates(plugins), ...missing(plugins, available)];
  const ordered: ConfiguredPlugin[] = [];
  const visiting: string[] = [];
  const visit = (each: ConfiguredPlugin): void => {
    if (ordered.includes(each)) return;
    const { name } = each.plugin;
    if (visiting.includes(name)) {
      const cycle = [...visiting.slice(visiting.indexOf(name)), name].join(' → ');
      problems.push(new PerdureError('PERDURE_PLUGIN_CYCLE', { cycle }));
      return;
    }
    visiting.push(name);
    for (const provider of plugins) if (provider !== each && provides(provider, wantedBy(each))) visit(provider);
    visiting.pop();
    if (!ordered.includes(each)) ordered.push(each);
  };
  for (const each of plugins) visit(each);
  const [first] = problems;
  if (problems.length === 1 && first !== undefined) throw first;
  if (problems.length > 1) {
    const text = problems.map(({ message }) => message).join(' ');
    throw new PerdureError('PERDURE_PLUGINS_INVALID', { problems: text }, { cause: new AggregateError(problems) });
  }
  return ordered;
}

function wantedBy({ plugin }: ConfiguredPlugin): readonly Token<unknown>[] {
  return [...plugin.needs, ...plugin.wants];
}

function provides({ plugin }: ConfiguredPlugin, tokens: readonly Token<unknown>[]): boolean {
  return plugin.provides.some(({ key }) => tokens.some((token) => token.key === key));
}

function duplicates(plugins: readonly ConfiguredPlugin[]): PerdureError[] {
  const problems: PerdureError[] = [];
  const providers = new Map<symbol, string>();
  const names = new Set<string>();
  for (const { plugin } of plugins) {
    if (names.has(plugin.name)) {
      const reason = 'two plugins have this name';
      problems.push(new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: plugin.name, field: 'name', reason }));
    }
    names.add(plugin.name);
    for (const token of plugin.provides) {
      const other = providers.get(token.key);
      if (token.cardinality === 'one' && other !== undefined) {
        problems.push(new PerdureError('PERDURE_PLUGIN_DUPLICATE', { plugin: plugin.name, other, token: token.name }));
      }
      providers.set(token.key, plugin.name);
    }
  }
  return problems;
}

function missing(plugins: readonly ConfiguredPlugin[], available: readonly Token<unknown>[]): PerdureError[] {
  const known = [...available, ...plugins.flatMap(({ plugin }) => plugin.provides)].map(({ key }) => key);
  return plugins.flatMap(({ plugin }) =>
    plugin.needs
      .filter((need) => need.cardinality === 'one' && !known.includes(need.key))
      .map((need) => new PerdureError('PERDURE_PLUGIN_NEEDS', { plugin: plugin.name, token: need.name })),
  );
}
