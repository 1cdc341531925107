export { budgetAmount, budgetCatalogue, budgetDefinition, budgetLimits, budgetTypes, isBudgetType } from './budget.js';
export type { BudgetAmount, BudgetFact, BudgetLimits, BudgetPayloadOf, BudgetType } from './budget.js';
export { catalogue, coreDefinition, coreTypes, isCoreType } from './catalogue.js';
export type { Catalogue, CoreFact, CoreType, FactHandlers, PayloadOf } from './catalogue.js';
export { artifactStored, compactionReason, historyCompacted, systemBlock, systemSnapshotTaken } from './context.js';
export type { CompactionReason, SystemBlock } from './context.js';
export { childStatus, delegation, sessionProfile } from './delegation.js';
export type { ChildStatus, Delegation, SessionProfile } from './delegation.js';
export { defineEvent, isPluginType } from './define-event.js';
export type { EventDefinition } from './define-event.js';
export { decodeEnvelope, eventEnvelopeV1, eventEnvelopeV1Version, projectEnvelope } from './envelope.js';
export type { DecodedEnvelope, EventEnvelopeV1, ProjectedEvent } from './envelope.js';
export { checkSnapshot, readSnapshot } from './exchange/read-snapshot.js';
export type { ReadSnapshot, SnapshotFault } from './exchange/read-snapshot.js';
export { DEFERRED_IN_SNAPSHOTS, sessionSnapshotV1, SNAPSHOT_VERSION } from './exchange/snapshot.js';
export type {
  SessionSnapshotV1,
  SnapshotArtifact,
  SnapshotRun,
  SnapshotSession,
  SnapshotTrace,
} from './exchange/snapshot.js';
export { FactRegistry, readMetadata, wireTypes } from './fact-registry.js';
export type { ReadFact, RecordedFact, Upcaster } from './fact-registry.js';
export { claimedHashes, FIRST_PREV_HASH, isFactIntact, sealMetadata } from './hash-chain.js';
export type { FactText, Sha256 } from './hash-chain.js';
export { approvalMode, change, promptText } from './input.js';
export type { ApprovalMode, Change } from './input.js';
export { formatWords } from './format-words.js';
export type { FormatWords } from './format-words.js';
export { jsonValue, providerMetadata } from './json.js';
export type { JsonValue, ProviderMetadata } from './json.js';
export { jsonSchemaOf } from './json-schema.js';
export { message, toolResultPart } from './message.js';
export type { StoredMessage } from './message.js';
export { actor, factMetadata, labels } from './metadata.js';
export type { Actor, FactMetadata, Labels, Lane } from './metadata.js';
export { answerOnWire, answerText, argumentText, finishReason, modelPurpose, partLength, partOnWire } from './model.js';
export type { FinishReason, ModelPurpose } from './model.js';
export {
  addUsage,
  answerPart,
  artifactReference,
  filePart,
  noUsage,
  textPart,
  toolCallPart,
  usage,
  userPart,
} from './parts.js';
export type { AnswerPart, ArtifactReference, FilePart, ReasoningPart, TextPart, ToolCallPart } from './parts.js';
export type { Usage, UserPart } from './parts.js';
export { activePlugin } from './plugin.js';
export type { ActivePlugin } from './plugin.js';
export { answers, question, questionExpiry, questionOption } from './question.js';
export type { Answers, Question, QuestionExpiry, QuestionOption } from './question.js';
export { failure, runStatus, stepSetup, stepView } from './run.js';
export type { Failure, RunStatus, StepSetup, StepView } from './run.js';
export {
  decodeRelayMessage,
  evolveSessionRow,
  FactSieve,
  relayColumns,
  relayJsonSchema,
  relayMessage,
  relayMessageKey,
  relaySchemas,
  relaySessionKey,
} from './relay/index.js';
export type {
  DecodedMessage,
  HeaderValue,
  ReceivedFact,
  ReceivedMessage,
  RelayColumns,
  RelayMessage,
  RelayMessageOptions,
  RelaySchemaName,
  RelayValue,
  SessionRow,
  Sifted,
  SieveOptions,
} from './relay/index.js';
export {
  artifactStream,
  budgetStream,
  draftStream,
  keyText,
  leaseStream,
  nodeOfLease,
  nodeStream,
  relayStream,
  sessionKeyOf,
  sessionStream,
  streamCategory,
} from './stream-name.js';
export type { SessionKey, StreamCategory } from './stream-name.js';
export { callOrigin, controlPlane, effectContract, gateDecision, settlementStatus, trustLabel } from './tool.js';
export type { CallOrigin, ControlPlane, EffectContract, GateDecision, SettlementStatus, TrustLabel } from './tool.js';
export { variable } from './variable.js';
export type { Variable } from './variable.js';
export { present, usageOnWire } from './wire.js';
export type { SingleWireRule, WireEvent, WireLookup, WireRule } from './wire.js';
