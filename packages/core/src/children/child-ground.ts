import type { SessionKey } from '@perdure/events';
import type { ChildState } from '../session/child-state.js';
import type { LoadedSession } from '../session/loaded-session.js';
import type { SessionState } from '../session/session-state.js';

/** A child session's place in this process. */
export interface ChildHome {
  /** Works on the child, which stays loaded meanwhile, and goes when it has nothing left to do here. */
  use<Result>(work: (loaded: LoadedSession) => Result | Promise<Result>): Promise<Result>;
  /** The child has ended: it leaves memory now, unless somebody has it in use. */
  rest(): void;
}

/** Where a session finds those that it handed work to. */
export interface ChildGround {
  home(child: Pick<ChildState, 'childId'> & Partial<ChildState>, parent: SessionKey, state: SessionState): ChildHome;
}
