import { randomUUID } from 'node:crypto';
import { coreDefinition, FIRST_PREV_HASH, isCoreType, sealMetadata } from '@perdure/events';
import type { FactRegistry, RecordedFact } from '@perdure/events';
import type { NewFact, PluginLike } from '@perdure/plugin-api';
import { createRuntime, type PerdureRuntime } from './create-runtime.js';
import { sha256 } from './host/sha256.js';
import { emptySession, foldPage } from './session/session-loader.js';
import type { SessionState } from './session/session-state.js';
import type { RuntimeOptions } from './host/runtime-options.js';

/**
 * A runtime for tests: the plugins given, quick to notice dead nodes and stores that are away, and silent. It goes on
 * with no session that the test does not ask for, unless that turns `keepsSessions` on.
 */
export function createTestRuntime(
  options: RuntimeOptions & { readonly plugins: readonly PluginLike[] },
): Promise<PerdureRuntime> {
  return createRuntime(
    {
      logger: { log: () => undefined },
      leaseTtlMs: 1_000,
      closeGraceMs: 200,
      storePatienceMs: 2_000,
      keepsSessions: false,
    },
    options,
  );
}

/** A fact for a test's stream: of the core, of a plugin, or of a build that does not exist yet. */
export interface TestFact {
  readonly type: string;
  readonly payload: unknown;
  readonly version?: number;
  readonly essential?: boolean;
  readonly time?: number;
}

/** Facts as they are appended: chained from the beginning of a stream, or from the fact that `prevHash` is of. */
export function encodeFacts(
  sessionId: string,
  facts: readonly TestFact[],
  prevHash = FIRST_PREV_HASH,
): readonly NewFact[] {
  let previous = prevHash;
  return facts.map(({ type, payload, version = 1, essential, time = 0 }) => {
    const id = randomUUID();
    const text = JSON.stringify(payload);
    const lane = isCoreType(type) ? coreDefinition(type).lane : 'owner';
    const members = { sessionId, epoch: 1, time, lane, actor: { kind: 'node' }, essential, schemaVersion: version };
    const head = JSON.stringify(members).slice(0, -1);
    const sealed = sealMetadata({ id, type, payload: text, head }, previous, sha256);
    previous = sealed.hash;
    const isDetail = isCoreType(type) && coreDefinition(type).isDetail?.(payload) === true;
    return { id, type, payload: text, metadata: sealed.metadata, ...(isDetail ? { detail: true } : {}) };
  });
}

/** Folds stored facts onto a state, without a store. */
export function foldOnto(state: SessionState, facts: readonly RecordedFact[], registry: FactRegistry): SessionState {
  return foldPage({ ...emptySession, state }, facts, registry).state;
}

export { evolve } from './session/evolve.js';
export { initialState } from './session/session-state.js';
export type { SessionState } from './session/session-state.js';
export { foldDigest, openStateSnapshot, StateSnapshotWriter } from './project/state-snapshot.js';
export { DECIDER_VERSION } from './turn/decider.js';
