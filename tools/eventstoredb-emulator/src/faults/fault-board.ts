import { faultRuleSchema, type Fault, type FaultRule, type Operation } from './fault.js';

interface ActiveRule {
  readonly operations: readonly Operation[];
  readonly fault: Fault;
  readonly stream: string;
  skip: number;
  times: number;
}

/** The faults that wait for their calls. The oldest rule that fits a call is taken. */
export class FaultBoard {
  private rules: ActiveRule[] = [];

  /** Throws when the rule is not one. */
  add(rule: FaultRule): void {
    const { on, fault, stream = '', skip, times = Infinity } = faultRuleSchema.parse(rule);
    this.rules.push({ operations: typeof on === 'string' ? [on] : on, fault, stream, skip, times });
  }

  clear(): void {
    this.rules = [];
  }

  take(operation: Operation, stream: string): Fault | undefined {
    const fits = this.rules.filter((rule) => rule.operations.includes(operation) && stream.startsWith(rule.stream));
    const hit = fits.find((rule) => rule.skip === 0);
    for (const rule of fits) if (rule.skip > 0) rule.skip -= 1;
    if (hit === undefined) return undefined;
    hit.times -= 1;
    this.rules = this.rules.filter(({ times }) => times > 0);
    return hit.fault;
  }
}
