import { catalogue, coreDefinition, type Actor, type CoreType, type PayloadOf } from '@perdure/events';
import { PerdureError, type HostEnv } from '@perdure/plugin-api';
import { evolve } from './evolve.js';
import type { SessionState } from './session-state.js';

/** The turn, run and step that a fact belongs to. */
export interface FactScope {
  readonly turnId?: string | undefined;
  readonly runId?: string | undefined;
  readonly stepId?: string | undefined;
}

/** A fact that is decided and not stored. */
export interface DraftedFact<Type extends CoreType = CoreType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
  readonly scope: FactScope;
  readonly actor: Actor;
  /** The id that the host made; the event id is derived from it. */
  readonly id: string;
  readonly time: number;
}

/** What a batch needs of the session around it. */
export interface BatchContext {
  readonly sessionId: string;
  readonly env: HostEnv;
  /** Takes registered secrets out of a value. */
  readonly redact: <Value>(value: Value) => Value;
  /** How many facts the store takes at once. */
  readonly maxBatch: number;
}

/** One decision adds at most so many facts. */
const LARGEST_DECISION = 8;

/**
 * Facts that will be appended together, and the state that they lead to. A decision looks at `state`, adds a fact, and
 * looks again; nothing of it counts before the whole batch is stored.
 */
export class FactBatch {
  readonly facts: DraftedFact[] = [];
  private current: SessionState;

  constructor(
    state: SessionState,
    /** The last revision before the batch; -1 where there is none. */
    readonly head: number,
    private readonly context: BatchContext,
  ) {
    this.current = state;
  }

  get state(): SessionState {
    return this.current;
  }

  /** Whether there may be no room for another decision: what is there is appended, and the rest decided behind it. */
  get isFull(): boolean {
    return this.facts.length + LARGEST_DECISION > this.context.maxBatch;
  }

  /**
   * Adds a fact that says what comes next. On a conflict the whole decision is made again. Such facts are made of what
   * the runtime itself worked out, and their types hold them to the schema; what comes from outside is checked.
   */
  add<Type extends CoreType>(type: Type, payload: PayloadOf<Type>, scope: FactScope, actor: Actor): void {
    this.keep(makeFact(type, payload, scope, actor, this.current.ownership.epoch, this.context));
  }

  /** Adds a fact that says what happened. It keeps its id however often the batch is decided again. */
  keep(fact: DraftedFact): void {
    this.facts.push(fact);
    const place = { revision: this.head + this.facts.length, time: fact.time };
    this.current = evolve(this.current, fact.type, fact.payload, place);
  }
}

/** Makes a fact of what came from outside: checked by its schema, without secrets, with its id and time. */
export function draftFact<Type extends CoreType>(
  type: Type,
  payload: PayloadOf<Type>,
  scope: FactScope,
  actor: Actor,
  epoch: number,
  context: BatchContext,
): DraftedFact<Type> {
  const checked = coreDefinition(type).schema.safeParse(payload);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new PerdureError('PERDURE_INTERNAL', { reason: `${type}.${issue?.path.join('.')}: ${issue?.message}` });
  }
  return makeFact(type, payload, scope, actor, epoch, context);
}

function makeFact<Type extends CoreType>(
  type: Type,
  payload: PayloadOf<Type>,
  scope: FactScope,
  actor: Actor,
  epoch: number,
  context: BatchContext,
): DraftedFact<Type> {
  const id = context.env.idGenerator.next(`${context.sessionId}-${epoch}-${catalogue[type].lane}`);
  // The turn, run and step are ids of the runtime, or were redacted when the host chose them.
  const by = actor.id === undefined ? actor : context.redact(actor);
  return { type, payload: context.redact(payload), scope, actor: by, id, time: context.env.clock.now() };
}
