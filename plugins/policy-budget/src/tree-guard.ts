import { keyText, type SessionKey } from '@perdure/events';
import type { BudgetGuard, BudgetSubject, Logger } from '@perdure/plugin-api';
import { BudgetStream, type BudgetWriter } from './budget-stream.js';
import { SessionBudget, type BudgetGround } from './session-budget.js';
import { TimeLimit } from './time-limit.js';

/** Trees without a session at work whose folds are kept, so that their next turn need not read them whole. */
const IDLE_TREES = 200;

/** Milliseconds for a check of a store that is there, and those that one waits for a store that is away. */
const GUARD_MS = 10_000;
const STORE_PATIENCE_MS = 600_000;

interface Tree {
  readonly stream: BudgetStream;
  readonly time: TimeLimit;
  readonly sessions: Map<string, SessionBudget>;
}

/** The budgets of all trees that have sessions at work in this process. */
export class TreeGuard implements BudgetGuard {
  readonly timeoutMs = GUARD_MS + STORE_PATIENCE_MS;
  private readonly trees = new Map<string, Tree>();

  constructor(
    private readonly ground: BudgetGround,
    private readonly writer: BudgetWriter,
    private readonly logger: Logger,
  ) {}

  readonly checkBeforeLlm: NonNullable<BudgetGuard['checkBeforeLlm']> = (call) => this.of(call).checkModelCall(call);
  readonly recordAfterLlm: NonNullable<BudgetGuard['recordAfterLlm']> = (call) => this.of(call).record(call);
  readonly releaseAfterLlm: NonNullable<BudgetGuard['releaseAfterLlm']> = (call) => this.of(call).release(call);
  readonly checkBeforeTool: NonNullable<BudgetGuard['checkBeforeTool']> = (call) => this.of(call).checkToolCall(call);

  /** The check before the model call looked the limits up a moment ago; of a tree that is not known, nothing is. */
  readonly guardsTools = (subject: BudgetSubject): boolean => {
    const tree = this.trees.get(keyText(rootOf(subject)));
    if (tree === undefined || tree.stream.revision < 0) return tree === undefined;
    const { limits } = tree.stream.state;
    return limits?.calls !== undefined || limits?.endsAt !== undefined;
  };

  readonly afterTurn = async (subject: BudgetSubject): Promise<void> => {
    const session = this.of(subject);
    await session.endTurn();
    const tree = this.trees.get(keyText(rootOf(subject)));
    if (session.isIdle && tree?.sessions.get(subject.sessionId) === session) tree.sessions.delete(subject.sessionId);
    this.forgetIdle();
  };

  /** Settles all that is held here. */
  async stop(): Promise<void> {
    for (const { time, stream } of this.trees.values()) {
      stream.hurry();
      time.rest();
    }
    const sessions = Array.from(this.trees.values(), (tree) => [...tree.sessions.values()]).flat();
    await Promise.all(sessions.filter(({ isIdle }) => !isIdle).map((session) => session.endTurn()));
  }

  private of(subject: BudgetSubject): SessionBudget {
    const tree = this.treeOf(rootOf(subject));
    let session = tree.sessions.get(subject.sessionId);
    if (session === undefined) {
      const key = { tenant: subject.tenant ?? undefined, id: subject.sessionId };
      session = new SessionBudget(key, tree.stream, tree.time, this.ground);
      tree.sessions.set(subject.sessionId, session);
    }
    return session;
  }

  private treeOf(root: SessionKey): Tree {
    const name = keyText(root);
    let tree = this.trees.get(name);
    if (tree === undefined) {
      const { store } = this.ground;
      const stream = new BudgetStream(root, store, this.writer, STORE_PATIENCE_MS);
      tree = { stream, time: new TimeLimit(stream, store, this.logger), sessions: new Map() };
    }
    // The one that was used last is the last to be forgotten.
    this.trees.delete(name);
    this.trees.set(name, tree);
    return tree;
  }

  private forgetIdle(): void {
    if (this.trees.size <= IDLE_TREES) return;
    for (const [name, { sessions }] of this.trees) {
      if (this.trees.size <= IDLE_TREES) return;
      if (sessions.size === 0) this.trees.delete(name);
    }
  }
}

function rootOf({ tenant, rootSessionId }: BudgetSubject): SessionKey {
  return { tenant: tenant ?? undefined, id: rootSessionId };
}
