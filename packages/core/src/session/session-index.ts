import {
  answerText,
  noUsage,
  promptText,
  type CallOrigin,
  type JsonValue,
  type PayloadOf,
  type Usage,
  type WireLookup,
} from '@perdure/events';
import { errorMessage, type PerdureError, type TurnResult } from '@perdure/plugin-api';
import type { EndedTurn, OpenTurn, SessionState } from './session-state.js';

/** Why a turn that was stopped is no success. */
const STOPPED = { code: 'PERDURE_TURN_STOPPED', message: errorMessage('PERDURE_TURN_STOPPED', {}) };

interface KnownCall {
  readonly name: string;
  readonly input: JsonValue | undefined;
  readonly origin: CallOrigin;
}

/**
 * Finds turns, prompts, runs and calls of a session by their ids. It is derived from committed states, which only grow,
 * and follows them: each look-up first takes in what has come since the last one.
 */
export class SessionIndex implements WireLookup {
  private readonly ended = new Map<string, number>();
  private readonly turnOfPrompt = new Map<string, string>();
  private readonly turnOfRun = new Map<string, string>();
  private readonly calls = new Map<string, KnownCall>();
  private endedSeen = 0;
  private messagesSeen = 0;

  constructor(private readonly state: () => SessionState) {}

  turnOf(promptId: string): string | undefined {
    this.followTurns();
    const open = this.state().open.find(({ prompts }) => prompts.some((prompt) => prompt.promptId === promptId));
    return open?.turnId ?? this.turnOfPrompt.get(promptId);
  }

  turnOfRunId(runId: string): string | undefined {
    this.followTurns();
    const open = this.state().open.find(
      ({ chosen, runs }) => chosen?.runId === runId || runs.some((run) => run.runId === runId),
    );
    return open?.turnId ?? this.turnOfRun.get(runId);
  }

  turn(turnId: string): OpenTurn | EndedTurn | undefined {
    return this.openTurn(turnId) ?? this.endedTurn(turnId);
  }

  openTurn(turnId: string): OpenTurn | undefined {
    return this.state().open.find((turn) => turn.turnId === turnId);
  }

  endedTurn(turnId: string): EndedTurn | undefined {
    this.followTurns();
    const index = this.ended.get(turnId);
    return index === undefined ? undefined : this.state().ended.at(index);
  }

  /** How a turn ended; `undefined` while it has not. */
  resultOf(turnId: string): TurnResult | undefined {
    const turn = this.endedTurn(turnId);
    if (turn === undefined) return undefined;
    const error = turn.failure ?? (turn.status === 'cancelled' ? STOPPED : undefined);
    return {
      success: turn.status === 'completed',
      status: turn.status,
      text: this.answerText(turnId) ?? '',
      ...(error === undefined ? {} : { error }),
      usage: turn.usage,
      turnId,
      runId: turn.runId ?? null,
    };
  }

  /** What is known of a turn that this process can no longer follow. */
  suspendedResult(turnId: string, { code, message }: PerdureError): TurnResult {
    return {
      success: false,
      status: 'suspended',
      text: this.answerText(turnId) ?? '',
      error: { code, message },
      usage: this.usageOf(turnId) ?? noUsage,
      turnId,
      runId: this.openTurn(turnId)?.runs.at(-1)?.runId ?? null,
    };
  }

  usageOf(turnId: string): Usage | undefined {
    return this.turn(turnId)?.usage;
  }

  promptText(turnId: string): string | undefined {
    const first = this.turn(turnId)?.firstMessage;
    const message = first === undefined ? undefined : this.state().messages.at(first);
    return message?.role === 'user' ? promptText(message.parts) : undefined;
  }

  /** The text of the turn's last answer. */
  answerText(turnId: string): string | undefined {
    const { messages } = this.state();
    const turn = this.endedTurn(turnId);
    const first = (turn ?? this.openTurn(turnId))?.firstMessage ?? messages.length;
    for (let index = turn?.lastMessage ?? messages.length - 1; index >= first; index--) {
      const message = messages.at(index);
      if (message?.role === 'assistant' && message.turnId === turnId) return answerText(message.parts);
    }
    return undefined;
  }

  /** A call as it was decided about: one of the host, or one whose arguments a gate rewrote. */
  decided({ callId, name, input, origin }: PayloadOf<'ToolCallDecided'>): void {
    if (input !== undefined) this.calls.set(callId, { name, input, origin });
  }

  call(callId: string): KnownCall | undefined {
    const { messages, hostCalls, nestedCalls } = this.state();
    for (; this.messagesSeen < messages.length; this.messagesSeen++) {
      const message = messages.at(this.messagesSeen);
      if (message?.role !== 'assistant') continue;
      for (const part of message.parts) {
        if (part.type !== 'tool-call' || this.calls.has(part.callId)) continue;
        this.calls.set(part.callId, { name: part.name, input: part.input, origin: 'model' });
      }
    }
    return this.calls.get(callId) ?? [...hostCalls, ...nestedCalls].find((call) => call.callId === callId);
  }

  private followTurns(): void {
    const { ended } = this.state();
    for (; this.endedSeen < ended.length; this.endedSeen++) {
      const turn = ended.at(this.endedSeen);
      if (turn === undefined) continue;
      this.ended.set(turn.turnId, this.endedSeen);
      for (const promptId of turn.promptIds) this.turnOfPrompt.set(promptId, turn.turnId);
      if (turn.chosen !== undefined) this.turnOfRun.set(turn.chosen.runId, turn.turnId);
      for (const { runId } of turn.runs) this.turnOfRun.set(runId, turn.turnId);
    }
  }
}
