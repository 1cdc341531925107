import type { z } from 'zod';
import type { Token, TokenValue } from './token.js';

/** The version of the contract between a plugin and the runtime: the major of this package's plugin surface. */
export const PLUGIN_API = 1;

/** What `setup` is handed. */
export interface PluginContext<Config> {
  /** The plugin's configuration, checked and completed by its schema. */
  readonly config: Config;
  /** What another plugin or the host provides. Only tokens listed in `needs` or `wants` can be asked for. */
  get<Port>(token: Token<Port, 'one'>): Port;
  get<Port>(token: Token<Port, 'many'>): readonly Port[];
  /** The provided value, or `undefined` when nothing provides the token. */
  find<Port>(token: Token<Port, 'one'>): Port | undefined;
  /** Provides a port. Only tokens listed in `provides`, and each of cardinality `one` once. */
  provide<T extends Token<unknown>>(token: T, value: T extends Token<infer Port> ? Port : never): void;
}

export interface PluginLife {
  /** Runs when everything is set up, in the order of needs. */
  start?(): Promise<void>;
  /** Runs in the reverse order. */
  stop?(): Promise<void>;
}

export interface Plugin<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly api: number;
  readonly version: string;
  readonly config: Schema;
  readonly provides: readonly Token<unknown>[];
  readonly needs: readonly Token<unknown>[];
  readonly wants: readonly Token<unknown>[];
  setup(context: PluginContext<z.output<Schema>>): PluginLife | Promise<PluginLife>;
}

/** A plugin, the name of a package that exports one, or one of both with what a host says of it. */
export type PluginLike = Plugin | string | PluginChoice;

export interface PluginChoice {
  readonly plugin: Plugin | string;
  readonly config?: unknown;
  /** Names of the tokens that are taken of it; all that it provides when absent. */
  readonly only?: readonly string[];
}

/**
 * Declares a plugin. Its package repeats `{"perdure": {"plugin": ".", "api": 1, "provides": [...]}}` in package.json,
 * so that plugins can be listed without running them.
 */
export function definePlugin<Schema extends z.ZodType>(plugin: {
  readonly name: string;
  readonly api: number;
  readonly version: string;
  readonly config: Schema;
  readonly provides?: readonly Token<unknown>[];
  /** The runtime does not start the plugin without these. */
  readonly needs?: readonly Token<unknown>[];
  /** Used when something provides them. */
  readonly wants?: readonly Token<unknown>[];
  setup(context: PluginContext<z.output<Schema>>): PluginLife | Promise<PluginLife>;
}): Plugin<Schema> {
  return { provides: [], needs: [], wants: [], ...plugin };
}

export type { TokenValue };
