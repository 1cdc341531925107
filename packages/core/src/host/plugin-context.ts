import { PerdureError, type Plugin, type PluginContext, type Token } from '@perdure/plugin-api';
import type { Container } from './container.js';

export interface Provided {
  readonly plugin: string;
  readonly token: Token<unknown>;
  readonly value: unknown;
}

/** What a plugin's set-up is handed. It reaches only the tokens that the plugin names. */
export function contextOf(
  plugin: Plugin,
  config: unknown,
  container: Container,
  provided: Provided[],
): PluginContext<unknown> {
  const find = (token: Token<unknown>): unknown => {
    if (![...plugin.needs, ...plugin.wants].some(({ key }) => key === token.key)) {
      const reason = `it asks for "${token.name}", which is neither in needs nor in wants`;
      throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: plugin.name, field: 'needs', reason });
    }
    return container.find(token);
  };
  const get = (token: Token<unknown>): unknown => {
    const value = find(token);
    if (value === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: token.name });
    return value;
  };
  const provide = (token: Token<unknown>, value: unknown): void => {
    const isTwice = token.cardinality === 'one' && provided.some((other) => other.token.key === token.key);
    if (isTwice || !plugin.provides.some(({ key }) => key === token.key)) {
      const reason = isTwice ? `it provides "${token.name}" twice` : `it provides "${token.name}", which is not listed`;
      throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: plugin.name, field: 'provides', reason });
    }
    provided.push({ plugin: plugin.name, token, value });
  };
  return { config, get, find, provide } as unknown as PluginContext<unknown>;
}
