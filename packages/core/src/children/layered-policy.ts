import type { JsonValue } from '@perdure/events';
import type { PermissionDecision, PermissionPolicy, ToolCallRequest } from '@perdure/plugin-api';
import { digestOf } from '../host/sha256.js';
import { refuseLater } from '../invoke/refuse-later.js';
import { canonicalJson } from '../session/canonical-json.js';

/**
 * The rules of an agent and those of a session profile: what one of them denies is denied, what one of them asks about
 * is asked about, and only what all of them allow is allowed. Rules that cannot be applied here deny everything.
 */
export class LayeredPolicy implements PermissionPolicy {
  readonly id: string;
  readonly digest: string;
  readonly rules: JsonValue;
  /** The rules of all layers, as those have them that this session hands work to. */
  readonly layers: readonly JsonValue[];
  private readonly policies: readonly PermissionPolicy[];

  constructor(
    private readonly base: PermissionPolicy | undefined,
    layers: readonly JsonValue[],
  ) {
    this.layers = distinct([...ownRules(base), ...layers]);
    this.id = base?.id ?? 'profile';
    this.digest = digestOf(canonicalJson([base?.digest ?? null, [...this.layers]]));
    this.rules = { all: [...this.layers] };
    this.policies = layers.map((rules) => policyOf(base, rules));
  }

  decide(call: ToolCallRequest): PermissionDecision {
    const first: PermissionDecision = refuseLater(this.base?.decide(call)) ?? { decision: 'ask' };
    const all = [first, ...this.policies.map((policy) => refuseLater(policy.decide(call)))];
    const denied = all.find(({ decision }) => decision !== 'allow' && decision !== 'ask');
    return denied ?? all.find(({ decision }) => decision === 'ask') ?? first;
  }
}

/** The rules of a policy as data, where others of its kind can be made of them. */
export function ownRules(policy: PermissionPolicy | undefined): readonly JsonValue[] {
  if (policy instanceof LayeredPolicy) return policy.layers;
  return policy?.rules === undefined || policy.ofRules === undefined ? [] : [policy.rules];
}

/** Each once, in the order in which they come first. */
export function distinct<Value extends JsonValue>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}

function policyOf(base: PermissionPolicy | undefined, rules: JsonValue): PermissionPolicy {
  try {
    if (base?.ofRules !== undefined) return base.ofRules(rules);
  } catch {
    // Told by every call that it denies.
  }
  const reason = 'the rules that the session was made with cannot be applied here';
  return { id: 'profile', digest: '', decide: () => ({ decision: 'deny', reason }) };
}
