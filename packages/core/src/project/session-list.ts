import { keyText, promptText, type PayloadOf, type Usage } from '@perdure/events';
import type { SessionSummary } from '@perdure/plugin-api';
import { firstWords, LOOKED_AT, previewText } from '../session/title.js';
import { partsText } from './parts-text.js';
import type { ProjectedFact, Projection } from './projection.js';

/** A session as lists show it. */
export interface SessionListRow extends Omit<SessionSummary, 'status'> {
  /** Turns that have not ended, and whether a run of one goes on. */
  readonly openTurns: readonly string[];
  readonly isRunning: boolean;
  /** Messages that an import has still to bring. */
  readonly missing?: number;
  /** The prompts of open turns of which no run has begun: when all are taken back, the turn has ended. */
  readonly unstarted: readonly { readonly promptId: string; readonly turnId: string }[];
  /**
   * The first words of the session's first own prompt, and the revision from which they are in the history of its
   * forks: a prompt that waited when a fork was made is not.
   */
  readonly words?: { readonly text: string; readonly since?: number };
  /** What a fork goes on from. */
  readonly forkedFrom?: { readonly session: string; readonly revision: number };
  /** Positions of the first and of the last fact that made it. */
  readonly since: string;
  readonly at: string;
}

/**
 * All sessions. Of prompts, answers and outputs, however large, it reads the beginnings of texts and some members; a
 * list of sessions reads its rows alone.
 */
export const sessionList: Projection<SessionListRow> = {
  name: 'session-list',
  version: 3,
  types: [
    'SessionCreated',
    'SessionTitled',
    'SessionArchived',
    'SessionRestored',
    'SessionForked',
    'SessionErased',
    'MessagesImported',
    'PromptAccepted',
    'PromptCancelled',
    'RunStarted',
    'RunEnded',
    'ModelAnswered',
    'AnswerInterrupted',
    'ToolCallSettled',
    'OwnershipTaken',
    'OwnershipReleased',
  ],
  keys: (fact) => [keyText(fact.key)],
  evolve: (row, fact) => {
    if (fact.type === 'SessionErased') return undefined;
    if (fact.type === 'SessionCreated' || fact.type === 'SessionForked') {
      return created(fact, fact.payload as PayloadOf<'SessionCreated' | 'SessionForked'>);
    }
    if (row === undefined) return undefined;
    const changed = { ...row, ...changeOf(row, fact) };
    return { ...changed, ...settledWords(changed, fact), updatedAt: fact.time, at: fact.position };
  },
};

/** The first prompt waits no more when an answer to it, or the end of its turn, is there. */
function settledWords({ words }: SessionListRow, fact: ProjectedFact): Partial<SessionListRow> {
  if (words === undefined || words.since !== undefined || !endsWait(fact)) return {};
  return { words: { ...words, since: fact.revision } };
}

function endsWait({ type, json }: ProjectedFact): boolean {
  switch (type) {
    case 'ModelAnswered':
      return json.member('purpose')?.value() === 'step';
    case 'RunEnded': {
      const status = json.member('status')?.value();
      return status !== 'handed-over' && status !== 'superseded';
    }
    default:
      return type === 'AnswerInterrupted' || type === 'PromptCancelled';
  }
}

function created(fact: ProjectedFact, payload: PayloadOf<'SessionCreated' | 'SessionForked'>): SessionListRow {
  const { id, tenant = null } = fact.key;
  const { title = null, timezone = null }: { readonly title?: string | null; readonly timezone?: string | null } =
    'from' in payload ? {} : payload;
  return {
    id,
    tenant,
    agentId: payload.agentId,
    workspace: payload.workspace ?? null,
    parent: payload.parent ?? null,
    root: payload.root ?? id,
    title,
    titleBy: title === null ? null : 'host',
    preview: '',
    createdAt: fact.time,
    updatedAt: fact.time,
    timezone,
    messages: 0,
    historyBytes: 0,
    totalTokens: 0,
    modelLabel: payload.model ?? null,
    archivedAt: null,
    openTurns: [],
    isRunning: false,
    unstarted: [],
    owner: null,
    ...(!('imported' in payload) || payload.imported === undefined ? {} : { missing: payload.imported.messages }),
    ...('from' in payload ? { forkedFrom: payload.from } : {}),
    since: fact.position,
    at: fact.position,
  };
}

function changeOf(row: SessionListRow, fact: ProjectedFact): Partial<SessionListRow> {
  switch (fact.type) {
    case 'SessionTitled': {
      const { title, by } = fact.payload as PayloadOf<'SessionTitled'>;
      return by === 'model' && row.titleBy === 'host' ? {} : { title, titleBy: by };
    }
    case 'SessionArchived':
      return { archivedAt: row.archivedAt ?? fact.time };
    case 'SessionRestored':
      return { archivedAt: null };
    case 'PromptAccepted': {
      const turnId = fact.json.member('turnId')?.value() as string;
      const text = partsText(fact.json.member('parts'), '\n', LOOKED_AT);
      const named = withWords(row, firstWords(text));
      return { ...accepted(row, turnId, fact), ...withMessage(row, fact, text), ...named };
    }
    case 'PromptCancelled':
      return cancelled(row, fact.payload as PayloadOf<'PromptCancelled'>);
    case 'RunStarted': {
      const { turnId } = fact.payload as PayloadOf<'RunStarted'>;
      return { isRunning: true, unstarted: row.unstarted.filter((prompt) => prompt.turnId !== turnId) };
    }
    case 'MessagesImported': {
      const { from, messages } = fact.payload as PayloadOf<'MessagesImported'>;
      if (from !== row.messages || row.missing === undefined) return {};
      const texts = messages.flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])));
      const missing = row.missing - messages.length;
      const historyBytes = row.historyBytes + fact.bytes;
      return {
        messages: from + messages.length,
        historyBytes,
        preview: previewText(texts.at(-1) ?? '') || row.preview,
        missing,
        ...importedWords(row, messages, fact.revision),
      };
    }
    case 'RunEnded': {
      const { turnId, status } = fact.payload as PayloadOf<'RunEnded'>;
      const goesOn = status === 'handed-over' || status === 'superseded';
      return { isRunning: false, openTurns: goesOn ? row.openTurns : row.openTurns.filter((open) => open !== turnId) };
    }
    case 'ModelAnswered': {
      const usage = fact.json.member('usage')?.value() as Usage;
      const totalTokens = row.totalTokens + usage.totalTokens;
      if (fact.json.member('purpose')?.value() !== 'step') return { totalTokens };
      const modelLabel = fact.json.member('modelId')?.value() as string;
      return { totalTokens, modelLabel, ...withMessage(row, fact, answered(fact)) };
    }
    case 'AnswerInterrupted':
      return withMessage(row, fact, answered(fact));
    case 'ToolCallSettled':
      return { historyBytes: row.historyBytes + fact.bytes };
    case 'OwnershipTaken':
      return { owner: (fact.payload as PayloadOf<'OwnershipTaken'>).node };
    case 'OwnershipReleased':
      return { owner: null };
    default:
      return {};
  }
}

/** The first prompt that has words names a session that has no other name; also forks go by its words. */
function withWords(row: SessionListRow, text: string, since?: number): Partial<SessionListRow> {
  if (text === '' || row.words !== undefined) return {};
  const named = row.title === null ? { title: text, titleBy: 'prompt' as const } : {};
  return { ...named, words: { text, ...(since === undefined ? {} : { since }) } };
}

function importedWords(
  row: SessionListRow,
  messages: PayloadOf<'MessagesImported'>['messages'],
  revision: number,
): Partial<SessionListRow> {
  for (const message of messages) {
    const text = message.role === 'user' ? firstWords(promptText(message.parts)) : '';
    if (text !== '') return withWords(row, text, revision);
  }
  return {};
}

/** A prompt opens a turn, or joins one. */
function accepted(
  { openTurns, unstarted }: SessionListRow,
  turnId: string,
  fact: ProjectedFact,
): Partial<SessionListRow> {
  const isOpen = openTurns.includes(turnId);
  if (isOpen && !unstarted.some((prompt) => prompt.turnId === turnId)) return {};
  const promptId = fact.json.member('promptId')?.value() as string;
  return {
    openTurns: isOpen ? openTurns : [...openTurns, turnId],
    unstarted: [...unstarted, { promptId, turnId }],
  };
}

function cancelled(
  { openTurns, unstarted }: SessionListRow,
  { promptId }: PayloadOf<'PromptCancelled'>,
): Partial<SessionListRow> {
  const turnId = unstarted.find((prompt) => prompt.promptId === promptId)?.turnId;
  const left = unstarted.filter((prompt) => prompt.promptId !== promptId);
  const hasEnded = turnId !== undefined && !left.some((prompt) => prompt.turnId === turnId);
  return { unstarted: left, openTurns: hasEnded ? openTurns.filter((open) => open !== turnId) : openTurns };
}

function answered(fact: ProjectedFact): string {
  return partsText(fact.json.member('parts'), '', LOOKED_AT);
}

/** One more prompt or answer. One without text leaves the preview as it was. */
function withMessage(row: SessionListRow, fact: ProjectedFact, text: string): Partial<SessionListRow> {
  const historyBytes = row.historyBytes + fact.bytes;
  return { messages: row.messages + 1, historyBytes, preview: previewText(text) || row.preview };
}
