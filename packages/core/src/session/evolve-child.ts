import { noUsage, type PayloadOf } from '@perdure/events';
import { openCalls, wholeOf } from './call-tree.js';
import { childEndText } from './child-end-text.js';
import type { ChildState } from './child-state.js';
import type { EvolveHandlers, FactPlace } from './evolve.js';
import type { EndedTurn, SessionState } from './session-state.js';

/** How sessions that were handed work come and go. */
export const evolveChild: Pick<EvolveHandlers, 'ChildStarted' | 'ChildEnded'> = {
  ChildStarted: (fact, state, place) => {
    if (state.children.some(({ childId }) => childId === fact.childId)) return state;
    const { callId, quota } = fact.delegation;
    const turnId = isOfHost(state, callId) ? undefined : state.open[0]?.turnId;
    const child: ChildState = { ...fact, ...(turnId === undefined ? {} : { turnId }), startedAt: place.time };
    return { ...state, children: [...state.children, child], descendants: state.descendants + 1 + quota };
  },

  ChildEnded: (fact, state, place) => {
    const child = state.children.find(({ childId, ended }) => childId === fact.childId && ended === undefined);
    if (child === undefined) return state;
    const { callId, quota } = child.delegation;
    // What it was granted and did not use is there for others.
    const descendants = state.descendants - quota + fact.descendants;
    const isAwaited =
      child.background === undefined &&
      openCalls(state).some((call) => call.callId === callId && call.settled === undefined);
    if (isAwaited) {
      const { childId: _, callId: __, agent: ___, ...ended } = fact;
      const children = state.children.map((other) => (other === child ? { ...child, ended } : other));
      return { ...state, children, descendants };
    }
    const children = state.children.filter((other) => other !== child);
    const next = { ...state, children, descendants };
    return child.background === undefined ? next : withNotice(next, child, fact, place);
  },
};

/** The end of work in the background is told at the next step boundary. */
function withNotice(
  state: SessionState,
  child: ChildState,
  fact: PayloadOf<'ChildEnded'>,
  place: FactPlace,
): SessionState {
  const id = `${fact.childId}-end`;
  const message = {
    id,
    sequence: state.messages.length + 1,
    revision: 1,
    turnId: state.open[0]?.turnId ?? '',
    createdAt: place.time,
    role: 'user' as const,
    mode: 'steer' as const,
    parts: [{ type: 'text' as const, text: childEndText(child, fact) }],
  };
  const notices = [...state.notices, { id, message: state.messages.length }];
  return { ...state, messages: state.messages.push(message), notices };
}

/** A call that is settled waits for no child: those that have ended are told of, the others are to end. */
export function settleChildren(state: SessionState, callId: string): SessionState {
  const isOf = (child: ChildState): boolean => child.background === undefined && child.delegation.callId === callId;
  if (!state.children.some(isOf)) return state;
  const children = state.children.flatMap((child): ChildState[] => {
    if (!isOf(child)) return [child];
    return child.ended === undefined ? [{ ...child, isStopped: true }] : [];
  });
  return { ...state, children };
}

/** The stop of a turn is that of the work that it handed on. */
export function withStoppedChildren(state: SessionState, turnId: string): SessionState {
  if (!state.children.some((child) => child.turnId === turnId)) return state;
  const children = state.children.map((child) =>
    child.turnId === turnId && child.ended === undefined ? { ...child, isStopped: true as const } : child,
  );
  return { ...state, children };
}

/** Work that was stopped before it came: its turn is over, and whoever brings it finds that. */
export function withoutBirth(state: SessionState, { turnId, failure }: PayloadOf<'StopRequested'>): SessionState {
  if (state.identity?.delegation?.turnId !== turnId) return state;
  if ([...state.open, ...state.ended].some((turn) => turn.turnId === turnId)) return state;
  const ended: EndedTurn = {
    turnId,
    status: failure === undefined ? 'cancelled' : 'failed',
    ...(failure === undefined ? {} : { failure }),
    usage: noUsage,
    promptIds: [],
    runs: [],
    firstMessage: state.messages.length,
    lastMessage: state.messages.length - 1,
  };
  return { ...state, ended: state.ended.push(ended) };
}

function isOfHost(state: SessionState, callId: string): boolean {
  const call = openCalls(state).find((open) => open.callId === callId);
  return call !== undefined && wholeOf(state, call)?.origin === 'host';
}
