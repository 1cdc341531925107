import 'reflect-metadata';
import { container as rootContainer, type DependencyContainer } from 'tsyringe';
import { PerdureError, type Token, type TokenValue } from '@perdure/plugin-api';

/**
 * Values by token. A container sees what its parent has; what it registers itself hides the parent's value of a `one`
 * token and is added to the parent's values of a `many` token. The only file that knows tsyringe: values are registered
 * as they are, so nothing is built through a child and kept by its parent.
 */
export class Container {
  /** Values that are not there any more. */
  private readonly withdrawn = new Set<symbol>();

  private constructor(
    private readonly values: DependencyContainer,
    private readonly parent: Container | undefined,
  ) {}

  /** A container without a parent; tsyringe's global one is only its factory. */
  static root(): Container {
    return new Container(rootContainer.createChildContainer(), undefined);
  }

  child(): Container {
    return new Container(this.values.createChildContainer(), this);
  }

  /** Puts the value of a `one` token, or all values of this container of a `many` token. */
  set<T extends Token<unknown>>(token: T, value: TokenValue<T>): void {
    this.withdrawn.delete(token.key);
    this.values.registerInstance(token.key, value);
  }

  /** Takes back what this container has under a token; the parent's shows again. */
  withdraw(token: Token<unknown>): void {
    this.withdrawn.add(token.key);
  }

  /** Throws PERDURE_TOKEN_MISSING when nothing provides a `one` token; a `many` token may be empty. */
  get<T extends Token<unknown>>(token: T): TokenValue<T> {
    const value = this.find(token);
    if (value === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: token.name });
    return value;
  }

  find<T extends Token<unknown>>(token: T): TokenValue<T> | undefined {
    if (token.cardinality === 'many') return this.all(token) as TokenValue<T>;
    if (this.has(token)) return this.values.resolve<TokenValue<T>>(token.key);
    return this.parent?.find(token);
  }

  private has({ key }: Token<unknown>): boolean {
    return this.values.isRegistered(key) && !this.withdrawn.has(key);
  }

  private all(token: Token<unknown>): readonly unknown[] {
    const own = this.has(token) ? this.values.resolve<readonly unknown[]>(token.key) : [];
    const inherited = this.parent?.all(token) ?? [];
    return own.length === 0 ? inherited : [...inherited, ...own];
  }
}
