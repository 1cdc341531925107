/** `one`: exactly one provider, a second is an error. `many`: all contributions, in the order of the plugins. */
export type Cardinality = 'one' | 'many';

/** `runtime` values live as long as the runtime; `agent` values can be added to and removed from a running agent. */
export type Scope = 'runtime' | 'agent';

/** The DI id of a port. The type parameter exists for the compiler alone. */
export interface Token<Port, Count extends Cardinality = Cardinality> {
  readonly name: string;
  readonly cardinality: Count;
  readonly scope: Scope;
  /** Equal for equal names, so that two copies of this package agree. */
  readonly key: symbol;
  readonly port?: Port;
}

export type TokenValue<T> =
  T extends Token<infer Port, infer Count> ? (Count extends 'many' ? readonly Port[] : Port) : never;

export function oneToken<Port>(name: string, scope: Scope): Token<Port, 'one'> {
  return { name, cardinality: 'one', scope, key: Symbol.for(`perdure.token.${name}`) };
}

export function manyToken<Port>(name: string, scope: Scope): Token<Port, 'many'> {
  return { name, cardinality: 'many', scope, key: Symbol.for(`perdure.token.${name}`) };
}
