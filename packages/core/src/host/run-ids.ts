import { keyText, type SessionKey } from '@perdure/events';

/** Ids that are remembered; the oldest go first. */
const REMEMBERED = 10_000;

/**
 * Which session of a tenant a run id that a host chose belongs to, as far as this runtime has seen it. In one session
 * the stream decides; between sessions nothing is shared, and this notices a mix-up in one process.
 */
export class RunIds {
  private readonly sessions = new Map<string, string>();

  /** The session that has the id: this one, when no other is known to. */
  claim(key: SessionKey, runId: string): string {
    const name = keyText({ ...key, id: runId });
    const known = this.sessions.get(name);
    if (known !== undefined) return known;
    this.sessions.set(name, key.id);
    const [oldest] = this.sessions.size > REMEMBERED ? this.sessions.keys() : [];
    if (oldest !== undefined) this.sessions.delete(oldest);
    return key.id;
  }

  /** The id was not accepted after all. */
  release(key: SessionKey, runId: string): void {
    this.sessions.delete(keyText({ ...key, id: runId }));
  }
}
