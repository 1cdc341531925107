import { TitleAsker } from '../turn/title-asker.js';
import type { SessionWork } from '../turn/session-work.js';
import { InteractionExpiry } from './interaction-expiry.js';
import { Passivation } from './passivation.js';

/** What goes on in a loaded session beside its turns: requests expire, somebody wants it elsewhere, a title is due. */
export class BesideTurns {
  /** Tells when the session is to leave this node. */
  readonly passivation: Passivation;
  readonly titles: TitleAsker;

  constructor(work: SessionWork, isOwner: () => boolean, signal: AbortSignal) {
    this.passivation = new Passivation(work.journal, isOwner, signal);
    this.titles = new TitleAsker(work, isOwner, signal);
    new InteractionExpiry(work, signal).look();
  }
}
