import type { BudgetDecision } from '@perdure/plugin-api';
import { RESOURCES } from './amount.js';
import type { BudgetState } from './budget-state.js';

type Soft = Extract<BudgetDecision, { readonly decision: 'soft' }>;

/** Which limits a session was warned of: each once, until it is set to something else. */
export class SoftWarnings {
  private readonly given = new Set<string>();

  /** The next warning that is due. What is held counts as spent: others cannot have it. */
  about({ limits, soft, spent, held }: BudgetState): Soft | undefined {
    if (limits === undefined || soft === undefined) return undefined;
    for (const resource of RESOURCES) {
      const limit = limits[resource];
      const key = `${resource} ${limit}`;
      const consumed = spent[resource] + held[resource];
      if (limit === undefined || consumed < soft * limit || this.given.has(key)) continue;
      this.given.add(key);
      const name = resource === 'micros' ? 'money' : resource;
      return { decision: 'soft', resource: name, consumed, limit, message: 'spent or held by sessions of the tree' };
    }
    return undefined;
  }
}
