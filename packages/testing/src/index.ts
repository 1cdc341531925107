export { describeArtifactStore } from './conformance/artifact-store/describe-artifact-store.js';
export { describeEventStore } from './conformance/event-store/describe-event-store.js';
export type { DeclaredCapabilities, StorePlace, StoreUnderTest } from './conformance/place.js';
export { describeProjectionStore } from './conformance/projection-store/describe-projection-store.js';
export {
  artifactStoreRequirements,
  eventStoreRequirements,
  projectionStoreRequirements,
  snapshotStoreRequirements,
} from './conformance/requirements.js';
export { describeSnapshotStore } from './conformance/snapshot-store/describe-snapshot-store.js';
export { faultyEventStore } from './faults/faulty-event-store.js';
export type { StoreFault, StoreVerb } from './faults/faulty-event-store.js';
export { killAt, recordKillPoints } from './faults/kill-plan.js';
export type { KillPlan, KillPoint, KillPointName, KillPointPassing, KillPointRecorder } from './faults/kill-plan.js';
export { killingEventStore } from './faults/killing-event-store.js';
export { killingAsker, killingGate, killingHook } from './faults/killing-gates.js';
export { killingModel } from './faults/killing-model.js';
export { killingTools } from './faults/killing-tools.js';
export { deterministicHostEnv, FixedClock, seededRandom, SequentialIdGenerator } from './host-env.js';
export type { DeterministicHostEnv } from './host-env.js';
export type { ChatMessage, ChatRequest } from './models/chat-request.js';
export { startModelServer } from './models/model-server.js';
export type { ModelServer, ModelServerOptions } from './models/model-server.js';
export type { ModelCallOptions } from './models/prompt-request.js';
export { contextTooLong } from './models/provider-failure.js';
export { scriptByRound } from './models/script.js';
export type { Script, ScriptData, ScriptedAnswer, ScriptedCall, ScriptedError } from './models/script.js';
export type { ScriptFunction, ScriptRule, ScriptRules } from './models/script.js';
export { ScriptedModel } from './models/scripted-model.js';
export type { ScriptedModelOptions } from './models/scripted-model.js';
export type { ScriptMessage, ScriptRequest, ScriptToolResult } from './models/script-request.js';
export { modelServerMain, spawnModelServer } from './models/spawn-model-server.js';
export type { ModelServerProcess, SpawnModelServerOptions } from './models/spawn-model-server.js';
export type { Specification } from './models/specification.js';
export type { StreamPart } from './models/stream-parts.js';
export type { WholeAnswer } from './models/whole-answer.js';
