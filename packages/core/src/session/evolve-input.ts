import { noUsage } from '@perdure/events';
import { withArtifacts } from './named-artifacts.js';
import { withoutBirth, withStoppedChildren } from './evolve-child.js';
import type { EvolveHandlers } from './evolve.js';
import { lateResultText } from './late-result.js';
import { isImporting, type EndedTurn, type OpenTurn, type SessionState, type WaitingMessage } from './session-state.js';

type InputFacts =
  | 'MessagesImported'
  | 'OwnershipTaken'
  | 'OwnershipReleased'
  | 'LateResultReported'
  | 'PromptAccepted'
  | 'PromptCancelled'
  | 'StopRequested'
  | 'ChangeRequested'
  | 'CommandRan'
  | 'PassivationRequested'
  | 'PeerInvoked'
  | 'BudgetThresholdHit';

/** How the facts that come from outside the running turn change a session. */
export const evolveInput: Pick<EvolveHandlers, InputFacts> = {
  MessagesImported: ({ from, messages, hidden = [], summary, artifacts = [] }, state) => {
    // What comes out of its turn is of another import that was quicker.
    if (!isImporting(state) || from !== state.messages.length) return state;
    const unseen = new Set(hidden);
    const next = { messages: state.messages, context: state.context };
    for (const message of messages) {
      const place = next.messages.length;
      next.messages = next.messages.push({ ...message, sequence: place + 1 });
      if (!unseen.has(place)) next.context = next.context.push(place);
    }
    // Those that the import itself put there; what a message says of others gives nobody what is another session's.
    const named = withArtifacts(
      state.artifacts,
      artifacts.map((artifact) => ({ artifact })),
    );
    const about = { ...next, artifacts: named };
    return { ...state, ...about, ...(summary === undefined ? {} : { summary, compactions: state.compactions + 1 }) };
  },

  OwnershipTaken: ({ epoch, node, incarnation }, state) => {
    const { ownership } = state;
    // An owner whose lease ran out says that it goes on: what was asked of it stands.
    if (epoch === ownership.epoch && incarnation === ownership.owner?.incarnation) return state;
    return { ...state, ownership: { epoch, owner: { node, incarnation }, handedOver: false } };
  },

  OwnershipReleased: (_, state) => ({ ...state, ownership: { epoch: state.ownership.epoch, handedOver: false } }),

  LateResultReported: (fact, state, place) => {
    const id = `late-${fact.callId}-${fact.epoch}`;
    const text = lateResultText(fact);
    const message = {
      id,
      sequence: state.messages.length + 1,
      revision: 1,
      turnId: state.open[0]?.turnId ?? '',
      createdAt: place.time,
      role: 'user' as const,
      mode: 'steer' as const,
      parts: [{ type: 'text' as const, text }],
    };
    const notices = [...state.notices, { id, message: state.messages.length }];
    return { ...state, messages: state.messages.push(message), notices };
  },

  PassivationRequested: (fact, state) => {
    const { ownership } = state;
    if (fact.epoch !== ownership.epoch || ownership.owner === undefined) return state;
    const { reason, deadlineMs } = fact;
    const passivation = { reason, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
    return { ...state, ownership: { ...ownership, passivation } };
  },

  // What these tell is for people, hooks and analytics; the session does not go by it.
  PeerInvoked: (_, state) => state,
  BudgetThresholdHit: (_, state) => state,

  PromptAccepted: (fact, state, place) => {
    const message = {
      id: fact.messageId,
      sequence: state.messages.length + 1,
      revision: 1,
      turnId: fact.turnId,
      createdAt: place.time,
      role: 'user' as const,
      mode: fact.mode,
      parts: fact.parts,
    };
    const waiting: WaitingMessage = { id: fact.promptId, message: state.messages.length };
    const messages = state.messages.push(message);
    const artifacts = withArtifacts(state.artifacts, fact.parts);
    if (fact.mode === 'steer') {
      const open = state.open.map((turn) => (turn.turnId === fact.turnId ? joinPrompt(turn, waiting) : turn));
      return { ...state, messages, artifacts, open };
    }
    const turn: OpenTurn = {
      turnId: fact.turnId,
      prompts: [{ promptId: fact.promptId }],
      chosen: fact.run && { ...fact.run, revision: place.revision, acceptedAt: place.time },
      waiting: [waiting],
      stop: undefined,
      runs: [],
      steps: 0,
      step: undefined,
      concluded: undefined,
      overflow: undefined,
      usage: noUsage,
      workedMs: 0,
      firstMessage: waiting.message,
    };
    return { ...state, messages, artifacts, open: [...state.open, turn] };
  },

  PromptCancelled: (fact, state) => {
    const turn = state.open.find(({ waiting }) => waiting.some(({ id }) => id === fact.promptId));
    if (turn === undefined) return state;
    const waiting = turn.waiting.filter(({ id }) => id !== fact.promptId);
    const prompts = turn.prompts.map((prompt) =>
      prompt.promptId === fact.promptId ? { ...prompt, cancelled: true as const } : prompt,
    );
    if (waiting.length === 0 && turn.runs.length === 0) return endUnstarted(state, { ...turn, prompts });
    const open = state.open.map((other) => (other === turn ? { ...turn, waiting, prompts } : other));
    return { ...state, open };
  },

  StopRequested: (fact, state) => {
    const { reason, failure } = fact;
    const stop = { ...(reason === undefined ? {} : { reason }), ...(failure === undefined ? {} : { failure }) };
    const open = state.open.map((turn) =>
      turn.turnId === fact.turnId && turn.stop === undefined ? { ...turn, stop } : turn,
    );
    return withStoppedChildren(withoutBirth({ ...state, open }, fact), fact.turnId);
  },

  ChangeRequested: (fact, state) => ({
    ...state,
    changes: [...state.changes, { changeId: fact.changeId, change: fact.change }],
  }),

  CommandRan: ({ promptId }, state, { revision }) =>
    promptId === undefined ? state : { ...state, commands: state.commands.push({ promptId, revision }) },
};

function joinPrompt(turn: OpenTurn, waiting: WaitingMessage): OpenTurn {
  return {
    ...turn,
    prompts: [...turn.prompts, { promptId: waiting.id }],
    waiting: [...turn.waiting, waiting],
  };
}

/** A turn whose prompts were all taken back before a run began. */
function endUnstarted(state: SessionState, turn: OpenTurn): SessionState {
  const ended: EndedTurn = {
    turnId: turn.turnId,
    status: 'cancelled',
    usage: turn.usage,
    promptIds: turn.prompts.map(({ promptId }) => promptId),
    ...(turn.chosen === undefined ? {} : { chosen: turn.chosen }),
    runs: [],
    firstMessage: turn.firstMessage,
    lastMessage: state.messages.length - 1,
  };
  return { ...state, open: state.open.filter(({ turnId }) => turnId !== turn.turnId), ended: state.ended.push(ended) };
}
