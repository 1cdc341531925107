import type { Change, JsonValue, PayloadOf, WireLookup } from '@perdure/events';
import type { Message, Mutation, PartContent, ToolPartState } from '@perdure/plugin-api';
import { shownMode } from '../children/stricter.js';
import type { CommittedFact } from '../session/journal.js';
import { activeRun, currentTurn, type SessionState } from '../session/session-state.js';
import { isWaiting } from '../session/waiting.js';
import { actionOf } from './change-action.js';
import type { ChildProgress } from './child-progress.js';
import { formatCursor, type Cursor } from './cursor.js';
import type { FeedItem, FeedSource } from './feed-walk.js';
import { answerMessageId } from './live-answer.js';
import { MessageFinder } from './message-finder.js';

/** What a reader of mutations needs of a session. */
export interface MutationSource extends FeedSource {
  readonly sessionId: string;
  readonly lookup: WireLookup;
  /** What a change asked for that was requested before a revision. */
  readonly changeBefore: (changeId: string, revision: number) => Promise<Change | undefined>;
}

/** A mutation without what its subscription gives it. */
type Told = Mutation extends infer Each
  ? Each extends Mutation
    ? Omit<Each, 'sessionId' | 'sequence' | 'cursor'>
    : never
  : never;

/** Says in mutations what a feed has, for one reader. */
export class MutationWriter {
  /** Behind what was told. */
  cursor: string;
  private readonly finder: MessageFinder;
  private readonly requested = new Map<string, Change>();
  private status: string;
  /** The part of a growing answer that was told last. */
  private part: { readonly messageId: string; readonly part: number; readonly content: PartContent } | undefined;

  constructor(
    private readonly source: MutationSource,
    from: Cursor,
  ) {
    this.cursor = formatCursor(from.revision, from.place);
    this.finder = new MessageFinder(source.state);
    // Who reads what is past does not know how it stands; who reads on from now does.
    this.status = from.revision === source.head() ? statusText(source.state()) : '';
  }

  passed(cursor: string): void {
    this.cursor = cursor;
  }

  async mutationsOf(item: FeedItem): Promise<readonly Told[]> {
    if (item.kind === 'delta') return this.ofDelta(item);
    if (item.kind === 'progress') return [taskProgress(item.progress)];
    const { fact } = item;
    const told = [...(await this.ofFact(fact)), ...this.ofStatus(fact)];
    return told;
  }

  private ofDelta({ key, delta }: Extract<FeedItem, { kind: 'delta' }>): readonly Told[] {
    const messageId = answerMessageId(key);
    const { part } = delta;
    const told: Told[] = [];
    const begin = (content: PartContent): void => {
      const last = this.part;
      const isOther = last?.messageId === messageId && last.part !== part;
      if (isOther && (last.content.type === 'text' || last.content.type === 'reasoning')) {
        const { type } = last.content;
        told.push({ variant: 'part', messageId, part: last.part, content: { type, state: 'done' } });
      }
      this.part = { messageId, part, content };
      told.push({ variant: 'part', messageId, part, content });
    };
    switch (delta.kind) {
      case 'text':
      case 'reasoning':
        if (this.part?.messageId !== messageId || this.part.part !== part) {
          begin({ type: delta.kind, state: 'streaming' });
        }
        told.push({ variant: 'delta', type: delta.kind, messageId, part, delta: delta.text });
        return told;
      case 'tool-start':
        begin({ type: 'tool', state: 'input-streaming', callId: delta.callId, name: delta.name });
        return told;
      case 'tool-progress':
        return [{ variant: 'delta', type: 'tool-input', messageId, part, delta: delta.text }];
      case 'tool-input': {
        const content = this.part?.part === part ? this.part.content : undefined;
        const name = content?.type === 'tool' ? content.name : '';
        begin({ type: 'tool', state: 'ready', callId: delta.callId, name, inputText: delta.text });
        return told;
      }
      case 'file':
        begin({ type: 'file', state: 'done', mediaType: delta.mediaType });
        return told;
    }
  }

  private async ofFact(fact: CommittedFact): Promise<readonly Told[]> {
    switch (fact.type) {
      case 'PromptAccepted':
      case 'AnswerInterrupted':
        return this.ofMessage((fact.payload as { readonly messageId: string }).messageId);
      case 'ModelAnswered': {
        const { purpose, messageId } = fact.payload as PayloadOf<'ModelAnswered'>;
        return purpose === 'step' ? this.ofMessage(messageId) : [];
      }
      case 'LateResultReported': {
        const { callId, epoch } = fact.payload as PayloadOf<'LateResultReported'>;
        return this.ofMessage(`late-${callId}-${epoch}`);
      }
      case 'ToolCallSettled': {
        const { callId, status } = fact.payload as PayloadOf<'ToolCallSettled'>;
        const results = this.finder.results(callId);
        return [...this.ofCall(callId, status), ...(results === undefined ? [] : [messageMutation(results)])];
      }
      case 'ToolCallStarted':
        return this.ofCall((fact.payload as PayloadOf<'ToolCallStarted'>).callId, 'running');
      case 'ApprovalRequested':
      case 'QuestionAsked':
        return this.ofCall((fact.payload as { readonly callId: string }).callId, 'waiting');
      case 'RunStarted': {
        const { turnId } = fact.payload as PayloadOf<'RunStarted'>;
        return [{ variant: 'turn', type: 'start', turnId, status: 'running' }];
      }
      case 'RunEnded':
        return this.ofEnd(fact.payload as PayloadOf<'RunEnded'>);
      case 'ChildStarted':
        return [taskStart(fact.payload as PayloadOf<'ChildStarted'>)];
      case 'ChildEnded':
        return [taskEnd(fact.payload as PayloadOf<'ChildEnded'>)];
      case 'ModelCallFailed': {
        const { failure, retryable } = fact.payload as PayloadOf<'ModelCallFailed'>;
        return [this.failed('model', failure, retryable)];
      }
      case 'ModelCallDenied':
        return [this.failed('model', (fact.payload as PayloadOf<'ModelCallDenied'>).failure, false)];
      case 'ChangeRequested': {
        const { changeId, change } = fact.payload as PayloadOf<'ChangeRequested'>;
        this.requested.set(changeId, change);
        return [{ variant: 'action', id: changeId, status: 'running', ...actionOf(change) }];
      }
      case 'SessionTitled':
        return [{ variant: 'session', type: 'title', title: (fact.payload as PayloadOf<'SessionTitled'>).title }];
      case 'ChangeApplied':
        return this.ofApplied(fact.payload as PayloadOf<'ChangeApplied'>, fact.revision);
      default:
        return [];
    }
  }

  private ofMessage(id: string): readonly Told[] {
    this.part = undefined;
    const message = this.finder.message(id);
    return message === undefined ? [] : [messageMutation(message)];
  }

  private ofCall(callId: string, state: ToolPartState): readonly Told[] {
    const found = this.finder.call(callId);
    if (found === undefined) return [];
    const { messageId, part, name } = found;
    return [{ variant: 'part', messageId, part, content: { type: 'tool', state, callId, name } }];
  }

  private ofEnd({ turnId, status, failure }: PayloadOf<'RunEnded'>): readonly Told[] {
    this.part = undefined;
    if (status === 'handed-over' || status === 'superseded') {
      return [{ variant: 'turn', type: 'pause', turnId, status }];
    }
    const text = this.source.lookup.answerText(turnId);
    const end: Told = { variant: 'turn', type: 'finish', turnId, status, ...(text === undefined ? {} : { text }) };
    if (failure === undefined) return [end];
    const { code, message } = failure;
    return [{ variant: 'error', scope: 'turn', turnId, code, message, recoverable: false }, end];
  }

  private failed(
    scope: 'model',
    { code, message }: { readonly code: string; readonly message: string },
    recoverable: boolean,
  ): Told {
    this.part = undefined;
    const turnId = currentTurn(this.source.state())?.turnId ?? null;
    return { variant: 'error', scope, turnId, code, message, recoverable };
  }

  private async ofApplied(
    { changeId, failure }: PayloadOf<'ChangeApplied'>,
    revision: number,
  ): Promise<readonly Told[]> {
    const change = this.requested.get(changeId) ?? (await this.source.changeBefore(changeId, revision));
    this.requested.delete(changeId);
    // Who compacts by itself asks nobody.
    const about = actionOf(change ?? { kind: 'compact' });
    const { code = '', message = '' } = failure ?? {};
    const told: Told[] = [
      failure === undefined
        ? { variant: 'action', id: changeId, status: 'completed', ...about }
        : { variant: 'action', id: changeId, status: 'failed', ...about, error: { code, message } },
    ];
    const isConfig = change?.kind === 'model' || change?.kind === 'approvals';
    if (failure !== undefined || !isConfig) return told;
    const state = this.source.state();
    const { model = null } = state;
    return [...told, { variant: 'session', type: 'config', model, approvals: shownMode(state) ?? null }];
  }

  /** How the session stands, told where the reader has come to the present. */
  private ofStatus({ revision }: CommittedFact): readonly Told[] {
    if (revision !== this.source.head()) return [];
    const state = this.source.state();
    const text = statusText(state);
    if (text === this.status) return [];
    this.status = text;
    const turnId = currentTurn(state)?.turnId ?? null;
    return [{ variant: 'session', type: 'status', status: statusOf(state), turnId }];
  }
}

export type ActionData = Readonly<Record<string, JsonValue>>;

function messageMutation(message: Message): Told {
  return { variant: 'message', message };
}

function taskStart({
  childId: taskId,
  description,
  delegation: { callId },
  profile: { agent },
}: PayloadOf<'ChildStarted'>): Told {
  return { variant: 'task', taskId, callId, agent, status: 'running', description };
}

function taskProgress({ taskId, callId, agent, status, metadata }: ChildProgress): Told {
  return { variant: 'task', taskId, callId, agent, status: 'running', progress: { status, metadata } };
}

function taskEnd({ childId: taskId, callId, agent, status, text }: PayloadOf<'ChildEnded'>): Told {
  return { variant: 'task', taskId, callId, agent, status, text };
}

function statusOf(state: SessionState): 'idle' | 'running' | 'waiting' {
  const turn = currentTurn(state);
  if (turn === undefined) return 'idle';
  return activeRun(turn) !== undefined && isWaiting(state) ? 'waiting' : 'running';
}

function statusText(state: SessionState): string {
  return `${statusOf(state)} ${currentTurn(state)?.turnId ?? ''}`;
}
