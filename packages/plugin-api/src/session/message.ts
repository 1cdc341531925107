import type {
  AnswerPart,
  ArtifactReference,
  Failure,
  FilePart,
  JsonValue,
  SettlementStatus,
  TrustLabel,
  UserPart,
} from '@perdure/events';

/** What a call came to, beside the calls of its step and in their order. */
export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly name: string;
  readonly status: SettlementStatus;
  readonly output?: JsonValue;
  readonly artifact?: ArtifactReference;
  /** Files that the tool gave beside its output. One that could not be kept names no artifact. */
  readonly files?: readonly FilePart[];
  readonly failure?: Failure;
  /** Where the output comes from. Absent when the tool never ran, and in sessions from before there were labels. */
  readonly trust?: TrustLabel;
}

/**
 * A message of a session. `sequence` counts from 1 and never changes; `revision` counts the changes of this message,
 * from 1. Parts are in the model's order.
 */
export type Message = UserMessage | AssistantMessage | ToolMessage;

interface MessageBase {
  readonly id: string;
  readonly sequence: number;
  readonly revision: number;
  readonly turnId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export interface UserMessage extends MessageBase {
  readonly role: 'user';
  readonly mode: 'turn' | 'queue' | 'steer';
  readonly parts: readonly UserPart[];
}

export interface AssistantMessage extends MessageBase {
  readonly role: 'assistant';
  /** `interrupted` is what was seen of an answer that did not end; it may have been asked for again. */
  readonly status: 'complete' | 'interrupted';
  readonly parts: readonly AnswerPart[];
}

export interface ToolMessage extends MessageBase {
  readonly role: 'tool';
  readonly parts: readonly ToolResultPart[];
}
