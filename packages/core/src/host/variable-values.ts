import type { Change, Variable } from '@perdure/events';
import type { HostServices } from './host-services.js';
import type { SessionState } from '../session/session-state.js';
import { effectiveVariables, projectedVariables } from '../session/variables.js';
import { digestOf } from './sha256.js';

/** Values of one name that are kept: a step that began before the last of them still has its own. */
const KEPT = 8;

/**
 * The values of one session's variables in this process. Facts hold names and salted digests alone, so whoever goes on
 * with the session elsewhere is given the values again; what tells them is that they fit.
 */
export class VariableValues {
  private readonly known = new Map<string, { readonly digest: string; readonly value: string }[]>();
  /** What the host gave the session itself, by name. */
  private readonly given = new Map<string, string>();
  /** Names that were given and that the session has not been asked to take over. */
  readonly unasked = new Set<string>();

  constructor(
    private readonly services: Pick<HostServices, 'env' | 'secrets'>,
    /** What the agent has for the session at the moment. */
    readonly ofAgent: () => Readonly<Record<string, string>>,
  ) {}

  private give(name: string, value: string | null): void {
    if (value === null) this.given.delete(name);
    else this.given.set(name, value);
  }

  /** What the host gave with the session's options: the session is asked to take it over when this node has it. */
  offer(env: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(env)) {
      this.given.set(name, value);
      this.unasked.add(name);
    }
  }

  /** What was given to the session itself. */
  get own(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.given);
  }

  /** The given value of a name. */
  ofSession(name: string): string | undefined {
    return this.given.get(name);
  }

  /** A value as facts know it: as one of these that it fits, else by a salt of its own. */
  variable(name: string, value: string, recorded: readonly Variable[] = []): Variable {
    const same = recorded.find((one) => one.name === name && isOf(one, value));
    if (same !== undefined) return this.keep(same, value);
    const salt = Array.from({ length: 4 }, () =>
      Math.floor(this.services.env.random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    );
    return this.keep(variableOf(name, value, salt.join('')), value);
  }

  /** What the host wants of the session's own variables, as a change. Throws PERDURE_SECRET_UNKNOWN. */
  change(env: Readonly<Record<string, string | null>>): Change {
    this.services.secrets.checkVariables(env);
    const set: Variable[] = [];
    const unset: string[] = [];
    for (const [name, value] of Object.entries(env)) {
      this.give(name, value);
      if (value === null) unset.push(name);
      else set.push(this.variable(name, value));
    }
    return { kind: 'env', scope: 'session', set, unset };
  }

  /** The value of a variable; `undefined` where this process was not given it. */
  valueOf(variable: Variable): string | undefined {
    const { name, digest } = variable;
    const kept = this.known.get(name)?.find((one) => one.digest === digest);
    if (kept !== undefined) return kept.value;
    const offered = [this.given.get(name), this.ofAgent()[name]];
    const value = offered.find((one) => one !== undefined && isOf(variable, one));
    if (value !== undefined) this.keep(variable, value);
    return value;
  }

  /**
   * What tools are handed of a session's variables: those whose values are here. In the place of a value that was never
   * given to this process comes the one that is asked for, if there is one.
   */
  environmentOf(state: Pick<SessionState, 'env' | 'changes'>): Readonly<Record<string, string>> {
    const asked = effectiveVariables(projectedVariables(state));
    const entries = effectiveVariables(state.env).flatMap((variable) => {
      const next = asked.find(({ name }) => name === variable.name);
      const value = this.valueOf(variable) ?? (next && this.valueOf(next));
      return value === undefined ? [] : [[variable.name, value] as const];
    });
    return Object.freeze(Object.fromEntries(entries));
  }

  private keep(variable: Variable, value: string): Variable {
    const { name, digest } = variable;
    const others = (this.known.get(name) ?? []).filter((one) => one.digest !== digest);
    this.known.set(name, [...others, { digest, value }].slice(-KEPT));
    return variable;
  }
}

function variableOf(name: string, value: string, salt: string): Variable {
  return { name, salt, digest: digestOf([salt, name, value, ''].join('\0')) };
}

function isOf({ name, salt, digest }: Variable, value: string): boolean {
  return variableOf(name, value, salt).digest === digest;
}
