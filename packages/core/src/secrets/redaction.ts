import type { Redactor } from '@perdure/plugin-api';
import type { TextRedaction } from './stream-redactor.js';

/** The members of facts that hold opaque provider data: changing them would make a signature invalid. */
const EXEMPT_FROM_DETECTORS = 'providerMetadata';

/**
 * The ordered list of redactors, first the registered secrets. It replaces in every text of a value, keys included; a
 * value without a match is returned as it is.
 */
export class Redaction implements TextRedaction {
  private readonly longest: number;

  constructor(
    private readonly secrets: TextRedaction,
    private readonly detectors: readonly Redactor[] = [],
  ) {
    this.longest = Math.max(0, ...detectors.map(({ maxMatch }) => maxMatch));
  }

  get isEmpty(): boolean {
    return this.secrets.isEmpty && this.detectors.length === 0;
  }

  redactText(text: string): string {
    return this.detectors.reduce((result, detector) => detector.redact(result), this.secrets.redactText(text));
  }

  holdBack(text: string): number {
    return Math.min(text.length, Math.max(this.secrets.holdBack(text), this.longest - 1));
  }

  redact<Value>(value: Value): Value {
    return this.isEmpty ? value : (this.redactValue(value, false) as Value);
  }

  private redactValue(value: unknown, exempt: boolean): unknown {
    if (typeof value === 'string') return exempt ? this.secrets.redactText(value) : this.redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.redactValue(item, exempt));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let changed = false;
    const entries = Object.entries(value).map(([key, member]) => {
      const cleanKey = exempt ? this.secrets.redactText(key) : this.redactText(key);
      const clean = this.redactValue(member, exempt || key === EXEMPT_FROM_DETECTORS);
      changed ||= clean !== member || cleanKey !== key;
      return [cleanKey, clean] as const;
    });
    return changed ? Object.fromEntries(entries) : value;
  }
}
