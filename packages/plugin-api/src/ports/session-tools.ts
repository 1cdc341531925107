import type { Tools } from './tool.js';

/** A session as those see it that bring it tools of its own. */
export interface SessionScope {
  readonly agentId: string;
  readonly sessionId: string;
  readonly tenant: string | null;
  /** The session that it works for, of the same tenant. */
  readonly parent: string | null;
  readonly workspace: string | undefined;
}

/** Tools that come and go while sessions run, and that need not be the same for all of them. */
export interface SessionToolSource {
  readonly name: string;
  /**
   * The tools of a session at this moment. Asked often, so it must answer at once, and with the same object as long as
   * they are the same. A step keeps those with which it began.
   */
  tools(session: SessionScope): Tools;
  /** The session was let go in this process: what is kept for it alone ends. Safe to repeat. */
  release?(session: SessionScope): Promise<void>;
}
