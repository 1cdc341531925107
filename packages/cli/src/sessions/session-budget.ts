import { isPerdureError, PerdureError, type Session, type SessionOptions } from '@perdure/plugin-api';
import { setBudget, type BudgetSetting, type PerdureRuntime, type RuntimeAgent } from '@perdure/runtime';

const MICROS = 1_000_000;
const WHOLE = /^\d{1,15}$/;
const DECIMAL = /^\d{1,9}(?:\.\d{1,6})?$/;

/** The members of `--budget` and `--set`, each with the limit that it sets. */
const members: Readonly<Record<string, (value: string) => BudgetSetting | undefined>> = {
  tokens: (value) => (WHOLE.test(value) ? { tokens: Number(value) } : undefined),
  usd: (value) => (DECIMAL.test(value) ? { micros: Math.round(Number(value) * MICROS) } : undefined),
  calls: (value) => (WHOLE.test(value) ? { calls: Number(value) } : undefined),
  seconds: (value) => (DECIMAL.test(value) ? { seconds: Number(value) } : undefined),
};
const NONE: Readonly<Record<string, BudgetSetting>> = {
  tokens: { tokens: null },
  usd: { micros: null },
  calls: { calls: null },
  seconds: { seconds: null },
};

/** The part of a limit at which a session that was limited here is warned. */
const SOFT = 0.8;

/** Reads `tokens=100000,usd=2.50`. Throws PERDURE_INPUT_INVALID naming the member. */
export function parseBudget(text: string, option = 'budget'): BudgetSetting {
  let budget: BudgetSetting = {};
  const seen = new Set<string>();
  for (const piece of text.split(',')) {
    const at = piece.indexOf('=');
    const name = piece.slice(0, Math.max(at, 0)).trim();
    const value = piece.slice(at + 1).trim();
    const field = `${option}.${name}`;
    if (!Object.hasOwn(members, name)) {
      const reason = `"${piece.trim()}" is none of tokens=N, usd=N, calls=N, seconds=N`;
      throw new PerdureError('PERDURE_INPUT_INVALID', { field: option, reason });
    }
    if (seen.has(name)) throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: 'it is there twice' });
    seen.add(name);
    const limit = value === 'none' ? NONE[name] : members[name]?.(value);
    if (limit === undefined) {
      const isWhole = name === 'tokens' || name === 'calls';
      const reason = `"${value}" is no ${isWhole ? 'whole number' : 'number'} from 0 on`;
      throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
    }
    budget = { ...budget, ...limit };
  }
  return { soft: SOFT, ...budget };
}

/** The session, limited before it is given a prompt. One that does not exist is made for it. */
export async function limitedSession(
  { services }: PerdureRuntime,
  agent: RuntimeAgent,
  named: Pick<SessionOptions, 'sessionId' | 'agent'>,
  workspace: string,
  budget: BudgetSetting,
): Promise<Session> {
  const set = (id: string): Promise<unknown> => setBudget(services.store, { id }, budget, { env: services.env });
  if (named.sessionId !== undefined) {
    try {
      await set(named.sessionId);
      return agent.session(workspace, named);
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_NOT_FOUND')) throw error;
    }
  }
  const session = await agent.sessions.create({ workspace, ...named });
  await set(session.id);
  return session;
}
