import type { SessionKey } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import type { EraseRequest } from '../host/erase-session.js';
import type { RunnableRow } from '../project/runnable.js';
import type { KeeperGround } from './keeper-ground.js';

/** Milliseconds that an erasure is left to whoever asked for it. Should that one be at it longer, both end it. */
const PATIENCE_MS = 1_000;
/** Milliseconds between two tries, at first and at the most. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

interface Erasure {
  readonly key: SessionKey;
  readonly agent: string;
  readonly request: EraseRequest;
  /** When somebody may go on with it, on the monotonic clock. */
  readonly at: number;
  readonly tries: number;
}

/** Goes on with erasures that were asked for and have not come to their end: their process may have died. */
export class ErasureKeeper {
  private readonly erasures = new Map<string, Erasure>();
  private round: Promise<void> | undefined;

  constructor(
    private readonly agents: KeeperGround['agents'],
    private readonly report: (message: string, error: unknown, data: Readonly<Record<string, string>>) => void,
  ) {}

  /** Takes in how a session stands. */
  note(text: string, key: SessionKey, { agent, erasing }: Pick<RunnableRow, 'agent' | 'erasing'>): void {
    if (erasing === null || agent === null || this.agents.get(agent) === undefined) {
      this.erasures.delete(text);
    } else if (!this.erasures.has(text)) {
      const request = { cascade: erasing.cascade, reason: erasing.reason ?? undefined };
      this.erasures.set(text, { key, agent, request, at: performance.now() + PATIENCE_MS, tries: 0 });
    }
  }

  /**
   * Begins to go on with what is due, one after the other: a turn that has to end first holds nothing else up. `isOver`
   * tells whether one came to its end meanwhile. The milliseconds after which to call it again, if it is to be.
   */
  work(signal: AbortSignal, isOver: (text: string) => Promise<boolean>): number | undefined {
    const isDue = Array.from(this.erasures.values()).some(({ at }) => at <= performance.now());
    if (isDue) {
      this.round ??= this.finishDue(signal, isOver).finally(() => {
        this.round = undefined;
      });
    }
    return this.erasures.size === 0 ? undefined : PATIENCE_MS;
  }

  /** Resolves when nothing of it is under way. */
  async settle(): Promise<void> {
    await this.round;
  }

  private async finishDue(signal: AbortSignal, isOver: (text: string) => Promise<boolean>): Promise<void> {
    for (const [text, erasure] of this.erasures) {
      if (signal.aborted) break;
      if (erasure.at > performance.now()) continue;
      if (await this.finish(erasure, () => isOver(text))) this.erasures.delete(text);
      else {
        const pause = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** Math.min(erasure.tries, 16));
        this.erasures.set(text, { ...erasure, at: performance.now() + pause, tries: erasure.tries + 1 });
      }
    }
  }

  /** `false` when another try is worth while. */
  private async finish({ key, agent, request, tries }: Erasure, isOver: () => Promise<boolean>): Promise<boolean> {
    try {
      if (await isOver()) return true;
      await this.agents.get(agent)?.finishErasure(key, request);
      return true;
    } catch (error) {
      if (tries === 0) this.report('A session could not be erased.', error, { session: key.id });
      // Somebody has to erase the forks first, or with it.
      return isPerdureError(error, 'PERDURE_HAS_FORKS');
    }
  }
}
