import { keyText, type SessionKey } from '@perdure/events';
import { Pulse } from '../live/pulse.js';

/**
 * Sessions that failed in this process before it knew whether they were its own: a take-over may be stored whose answer
 * was lost. Whoever looks after sessions takes them from here.
 */
export class FailedSessions {
  private keys = new Map<string, SessionKey>();
  private readonly pulse = new Pulse();
  private isHeeded = false;

  /** Where nobody looks after sessions, nothing is kept. */
  add(key: SessionKey): void {
    if (!this.isHeeded) return;
    this.keys.set(keyText(key), key);
    this.pulse.beat();
  }

  /** Those that were added since the last call. */
  take(): readonly SessionKey[] {
    const taken = [...this.keys.values()];
    this.keys.clear();
    return taken;
  }

  /** Resolves with the next that is added, or with `wake`. */
  next(): Promise<void> {
    this.isHeeded = true;
    return this.pulse.next();
  }

  wake(): void {
    this.pulse.beat();
  }
}
