import type { z } from 'zod';
import { approvalRefused, approvalRequested, approvalResolved } from './approval.js';
import { artifactStored, historyCompacted, systemSnapshotTaken } from './context.js';
import { budgetThresholdHit, passivationRequested, peerInvoked } from './cluster.js';
import type { EventDefinition } from './define-event.js';
import { childEnded, childStarted } from './delegation.js';
import { changeRequested, commandRan, promptAccepted, promptCancelled, stopRequested } from './input.js';
import { answerInterrupted, modelAnswered, modelCallDenied, modelCallFailed } from './model.js';
import { lateResultReported, ownershipReleased, ownershipTaken } from './ownership.js';
import { pluginSetChanged } from './plugin.js';
import { questionAnswered, questionAsked, questionRefused } from './question.js';
import { changeApplied, runEnded, runStarted, stepCheckpointed, stepStarted } from './run.js';
import {
  eraseRequested,
  messagesImported,
  sessionArchived,
  sessionCreated,
  sessionErased,
  sessionForked,
  sessionRelabeled,
  sessionRestored,
  sessionTitled,
} from './session.js';
import { toolCallDecided, toolCallSettled, toolCallStarted } from './tool.js';

/**
 * Every fact that this build of the core knows. Adding one here makes every handler map that lacks it fail to compile.
 */
export const catalogue = {
  SessionCreated: sessionCreated,
  SessionForked: sessionForked,
  SessionRelabeled: sessionRelabeled,
  SessionTitled: sessionTitled,
  SessionArchived: sessionArchived,
  SessionRestored: sessionRestored,
  EraseRequested: eraseRequested,
  SessionErased: sessionErased,
  MessagesImported: messagesImported,
  OwnershipTaken: ownershipTaken,
  OwnershipReleased: ownershipReleased,
  LateResultReported: lateResultReported,
  PassivationRequested: passivationRequested,
  PromptAccepted: promptAccepted,
  PromptCancelled: promptCancelled,
  StopRequested: stopRequested,
  ChangeRequested: changeRequested,
  CommandRan: commandRan,
  ApprovalResolved: approvalResolved,
  ApprovalRefused: approvalRefused,
  QuestionAnswered: questionAnswered,
  QuestionRefused: questionRefused,
  PeerInvoked: peerInvoked,
  BudgetThresholdHit: budgetThresholdHit,
  RunStarted: runStarted,
  RunEnded: runEnded,
  StepStarted: stepStarted,
  StepCheckpointed: stepCheckpointed,
  ChangeApplied: changeApplied,
  ModelAnswered: modelAnswered,
  ModelCallFailed: modelCallFailed,
  ModelCallDenied: modelCallDenied,
  AnswerInterrupted: answerInterrupted,
  ApprovalRequested: approvalRequested,
  QuestionAsked: questionAsked,
  ToolCallDecided: toolCallDecided,
  ToolCallStarted: toolCallStarted,
  ToolCallSettled: toolCallSettled,
  SystemSnapshotTaken: systemSnapshotTaken,
  HistoryCompacted: historyCompacted,
  ArtifactStored: artifactStored,
  ChildStarted: childStarted,
  ChildEnded: childEnded,
  PluginSetChanged: pluginSetChanged,
} as const;

export type Catalogue = typeof catalogue;
export type CoreType = keyof Catalogue;
export type PayloadOf<Type extends CoreType> = z.output<Catalogue[Type]['schema']>;

/** A core fact before it is stored: its type and its payload. */
export type CoreFact = { [Type in CoreType]: { readonly type: Type; readonly payload: PayloadOf<Type> } }[CoreType];

/** One handler for each core fact. */
export type FactHandlers<Argument extends unknown[], Result> = {
  readonly [Type in CoreType]: (payload: PayloadOf<Type>, ...argument: Argument) => Result;
};

export const coreTypes = Object.keys(catalogue) as readonly CoreType[];

export function isCoreType(type: string): type is CoreType {
  return Object.hasOwn(catalogue, type);
}

/** The definition of a core type, without its exact payload. */
export function coreDefinition(type: CoreType): EventDefinition {
  return catalogue[type] as unknown as EventDefinition;
}
