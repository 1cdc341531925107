import {
  FactRegistry,
  sessionStream,
  type Actor,
  type BudgetAmount,
  type BudgetLimits,
  type PayloadOf,
  type SessionKey,
} from '@perdure/events';
import { PerdureError, type EventStore, type HostEnv } from '@perdure/plugin-api';
import { z } from 'zod';
import type { BudgetState } from './budget-state.js';
import { BudgetStream } from './budget-stream.js';
import { worldTime } from './time-limit.js';

/** Milliseconds that who sets or reads limits waits for a store that is away. */
const PATIENCE_MS = 2_000;

const amount = z
  .int('it is a whole number from 0 on')
  .nonnegative('it is a whole number from 0 on')
  .nullable()
  .optional();
const setting = z.strictObject({
  tokens: amount,
  micros: amount,
  calls: amount,
  seconds: z.number().nonnegative('it is a number from 0 on').max(1e9, 'it is too long').nullable().optional(),
  soft: z.number().positive().max(1, 'it is a part of the limit, up to 1').nullable().optional(),
});

/**
 * Limits of a tree of sessions. What is absent stays as it is, `null` takes a limit away. `micros` are millionths of
 * the currency of the prices, `calls` those of models and tools, and `seconds` count from now. `soft` is the part of a
 * limit at which sessions are warned.
 */
export type BudgetSetting = z.input<typeof setting>;

/** How a tree of sessions stands. */
export interface BudgetReport {
  /** The session at the top of the tree. */
  readonly root: string;
  /** `null` while no limit was ever set: then nothing is counted. */
  readonly limits: BudgetLimits | null;
  readonly soft: number | null;
  readonly spent: BudgetAmount;
  /** What sessions hold for calls that they are about to make. */
  readonly held: BudgetAmount;
  readonly reservations: readonly {
    readonly sessionId: string;
    readonly callId: string;
    readonly holder: string;
    readonly amount: BudgetAmount;
  }[];
}

/**
 * Reads the budget of the tree that a session is in. The key's tenant isolates: there is no key for a tree of another.
 * Throws PERDURE_SESSION_NOT_FOUND.
 */
export async function readBudget(store: EventStore, session: SessionKey): Promise<BudgetReport> {
  const stream = new BudgetStream(
    await rootOf(store, session),
    store,
    { actor: { kind: 'host' }, now: worldTime },
    PATIENCE_MS,
  );
  await stream.refresh();
  return reportOf(stream.root.id, stream.state);
}

/**
 * Sets limits of the tree that a session is in, from any process. They hold from each session's next call on; a time
 * that is shortened also breaks off model calls that are under way. Throws PERDURE_INPUT_INVALID naming the field,
 * PERDURE_SESSION_NOT_FOUND and PERDURE_STORE_CONTENDED.
 */
export async function setBudget(
  store: EventStore,
  session: SessionKey,
  limits: BudgetSetting,
  { env, by }: { readonly env?: HostEnv; readonly by?: string } = {},
): Promise<BudgetReport> {
  const { seconds, soft, ...amounts } = checked(limits);
  const actor: Actor = by === undefined ? { kind: 'host' } : { kind: 'host', id: by };
  const now = env === undefined ? worldTime : () => env.clock.now();
  const stream = new BudgetStream(
    await rootOf(store, session),
    store,
    { actor, now: () => Math.floor(now()) },
    PATIENCE_MS,
  );
  const endsAt = seconds === undefined || seconds === null ? seconds : Math.ceil(worldTime() + seconds * 1_000);
  await stream.refresh();
  await stream.commit((state) => {
    const changed = { ...state.limits, ...present({ ...amounts, endsAt }) };
    const warnAt = soft === undefined ? state.soft : (soft ?? undefined);
    const payload = { limits: withoutNull(changed), ...(warnAt === undefined ? {} : { soft: warnAt }) };
    return { facts: [{ type: 'BudgetLimitSet', payload }], result: undefined };
  });
  return reportOf(stream.root.id, stream.state);
}

/** The key of the session at the top of a session's tree, by the first fact of the session. */
async function rootOf(store: EventStore, session: SessionKey): Promise<SessionKey> {
  const [first] = (await store.read(sessionStream(session), { limit: 1 })).facts;
  const read = first === undefined ? undefined : new FactRegistry().read(first);
  if (read === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session: session.id });
  if (read.kind !== 'known' || (read.type !== 'SessionCreated' && read.type !== 'SessionForked')) {
    throw new PerdureError('PERDURE_FACT_NEWER', { session: session.id, type: read.type, revision: 0 });
  }
  return { ...session, id: (read.payload as PayloadOf<'SessionCreated' | 'SessionForked'>).root ?? session.id };
}

function checked(limits: BudgetSetting): z.output<typeof setting> {
  const parsed = setting.safeParse(limits);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = unknown ?? issue?.path.join('.') ?? '';
  const reason = unknown === undefined ? (issue?.message ?? 'it is not valid') : 'there is no such limit';
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}

function present<Value>(members: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function withoutNull(limits: Readonly<Record<string, number | null | undefined>>): BudgetLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)) as BudgetLimits;
}

function reportOf(root: string, { limits, soft, spent, held, open }: BudgetState): BudgetReport {
  return {
    root,
    limits: limits ?? null,
    soft: soft ?? null,
    spent,
    held,
    reservations: Array.from(open.values(), ({ sessionId, callId, holder, amount: part }) => {
      return { sessionId, callId, holder, amount: part };
    }),
  };
}
