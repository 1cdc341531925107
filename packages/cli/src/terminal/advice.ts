import type { ErrorCode } from '@perdure/plugin-api';

const SEE_STORE = 'Run `perdure doctor` for the state of the store.';
const MODEL = 'Give it a model: --base-url URL --model-id ID, or a perdure.config.ts, .mjs or .json with one.';
const EVIDENCE = 'Keep the file and its copies as they are; compare with an anchor or an export of before.';

/** What to do about an error, where there is something to do that its message does not say. */
export const advice: Partial<Record<ErrorCode, string>> = {
  PERDURE_MODEL_MISSING: MODEL,
  PERDURE_MODEL_UNKNOWN: 'Name a model that the configuration has under agent.models or gets from a plugin.',
  PERDURE_MODEL_AUTHENTICATION: 'Check the key in the variable that --api-key-env names (PERDURE_API_KEY by itself).',
  PERDURE_MODEL_UNAVAILABLE: 'Check the endpoint with `perdure doctor`.',
  PERDURE_MODEL_RATE_LIMITED: 'Try again later.',
  PERDURE_TURN_STEP_LIMIT: 'Go on with another prompt, or raise agent.limits.maxSteps in the configuration.',
  PERDURE_BUDGET_EXHAUSTED:
    'Look with `perdure budget SESSION`, and raise it with --set tokens=N (usd, calls, seconds).',
  PERDURE_BUDGET_PRICE_UNKNOWN: 'Give the plugin @perdure/policy-budget of the configuration a price for the model.',
  PERDURE_SESSION_NOT_FOUND: 'List the sessions with `perdure sessions list`.',
  PERDURE_SESSION_ARCHIVED: 'Bring it back with `perdure sessions restore SESSION`.',
  PERDURE_SESSION_BUSY: 'Wait for the turn to end, or go on with one that was left: perdure resume SESSION.',
  PERDURE_SESSION_OWNED: 'Wait for the node to end, or take the session from it: perdure resume SESSION --take-over.',
  PERDURE_SESSION_FENCED: 'Another process took the session over. Look with `perdure sessions show SESSION`.',
  PERDURE_NOT_SUPPLIED: 'Use the configuration of the run before, or go on without it: --without-missing.',
  PERDURE_FACT_NEWER: 'Go on with the version of Perdure that wrote it. The session can be shown and exported here.',
  PERDURE_CURSOR_INVALID: 'Use the metadata.cursor of an event of this session.',
  PERDURE_PLUGIN_NOT_FOUND: 'Install the package beside the configuration file, build it, or correct its name.',
  PERDURE_PLUGIN_FAILED: 'Correct the configuration of the plugin, or take it out.',
  PERDURE_SANDBOX_UNAVAILABLE: 'Do what it says, or go on without commands: --shell off.',
  PERDURE_STORE_UNAVAILABLE: SEE_STORE,
  PERDURE_STORE_AMBIGUOUS: 'Look whether it is there, `perdure sessions show SESSION`, before you bring it again.',
  PERDURE_STORE_READ_ONLY: SEE_STORE,
  PERDURE_STORE_FULL: 'Make room on the disk of the store.',
  PERDURE_STORE_DAMAGED: 'Copy the store away first. `perdure sessions verify SESSION` tells which sessions are whole.',
  PERDURE_STORE_TRUNCATED: 'Restore the store from a backup, or go on with what is left: perdure doctor --accept-loss.',
  PERDURE_STORE_NEWER: 'Use the version of Perdure that wrote the store, or a newer one.',
  PERDURE_CHAIN_BROKEN: `The session was changed or is damaged from that revision on. ${EVIDENCE}`,
  PERDURE_ANCHOR_MISMATCH: `The session's end was cut off or its history replaced. ${EVIDENCE}`,
  PERDURE_INTERNAL: 'Run it again with PERDURE_DEBUG=1 and report what it prints.',
};
