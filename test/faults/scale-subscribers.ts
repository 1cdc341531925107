import { setMaxListeners } from 'node:events';
import type { Agent, EventStore } from '@perdure/plugin-api';

/** Those who follow while sessions run: what each of them saw must be whole and in order. */
export class Subscribers {
  private readonly following: Promise<string | undefined>[] = [];
  private readonly over = new AbortController();
  private readonly waiting: (() => boolean)[] = [];

  constructor() {
    setMaxListeners(0, this.over.signal);
  }

  /** Reads the events of a session to the end of its turn; the session need have none yet. */
  async ofSession(agent: Agent, sessionId: string): Promise<void> {
    const session = await agent.sessions.create({ sessionId });
    let isOver = false;
    this.waiting.push(() => isOver);
    const read = async (): Promise<string | undefined> => {
      let last = -1;
      for await (const { type, metadata } of session.events({ signal: this.over.signal })) {
        const revision = Number(metadata?.['revision'] ?? last);
        if (revision < last) return `${sessionId}: revision ${revision} behind ${last}`;
        last = revision;
        isOver ||= type === 'agent_end';
      }
      return isOver ? undefined : `${sessionId}: no end`;
    };
    this.following.push(read());
  }

  /** Follows all sessions of the store until as many turns have ended. */
  ofStore(store: EventStore, turns: number): void {
    let ended = 0;
    this.waiting.push(() => ended >= turns);
    const read = async (): Promise<string | undefined> => {
      const heads = new Map<string, number>();
      const source = { categories: ['session'], signal: this.over.signal };
      for await (const { facts } of store.subscribe({ all: true }, source)) {
        for (const { stream, revision, type } of facts) {
          const head = heads.get(stream) ?? -1;
          if (revision !== head + 1) return `${stream}: revision ${revision} behind ${head}`;
          heads.set(stream, revision);
          if (type === 'RunEnded') ended += 1;
        }
      }
      return ended === turns ? undefined : `${ended} turns ended`;
    };
    this.following.push(read());
  }

  /** How many are not up to the end. */
  get behind(): number {
    return this.waiting.filter((isComplete) => !isComplete()).length;
  }

  get count(): number {
    return this.following.length;
  }

  /** Ends them. What went wrong with any, at the most ten. */
  async end(): Promise<readonly string[]> {
    this.over.abort();
    const wrong = await Promise.all(this.following);
    return wrong.filter((reason) => reason !== undefined).slice(0, 10);
  }
}
