/** Who must act on an error: the caller, nobody (it was refused), whoever lost a race, the operator, or we. */
export type ErrorKind = 'caller' | 'refused' | 'conflict' | 'unavailable' | 'bug';

export interface ErrorEntry {
  /** Message template; `{name}` is replaced by the member `name` of the error's data. */
  readonly message: string;
  readonly kind: ErrorKind;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** HTTP status for servers. */
  readonly status: number;
}

function caller(message: string, status = 400): ErrorEntry {
  return { message, kind: 'caller', retryable: false, status };
}
function refused(message: string, status = 403): ErrorEntry {
  return { message, kind: 'refused', retryable: false, status };
}
function conflict(message: string, retryable = false): ErrorEntry {
  return { message, kind: 'conflict', retryable, status: 409 };
}
function unavailable(message: string, retryable = true): ErrorEntry {
  return { message, kind: 'unavailable', retryable, status: 503 };
}

/** Every code that this project throws or writes into facts. `docs` and a test hold it equal to the code, both ways. */
export const errorTable = {
  // Configuration and start-up.
  PERDURE_CONFIGURATION: caller('The configuration is not valid at "{field}": {reason}.'),
  PERDURE_SESSION_CONFIGURATION: caller('The session option "{field}" is not valid: {reason}.'),
  PERDURE_SESSION_INITIALIZATION: unavailable(
    'The resource "{resource}" of the session could not be initialised: {reason}.',
  ),
  PERDURE_ASYNC_BUILD_REQUIRED: caller(
    'The session needs "{resource}", which must be initialised first: await agent.ready().',
  ),
  PERDURE_PLUGIN_INVALID: caller('The plugin "{plugin}" is not valid at "{field}": {reason}.'),
  PERDURE_PLUGIN_API_MISMATCH: caller(
    'The plugin "{plugin}" is made for api {actual}; this runtime offers api {expected}.',
  ),
  PERDURE_PLUGIN_NOT_FOUND: caller('The plugin "{plugin}" could not be loaded: {reason}.', 404),
  PERDURE_PLUGIN_NEEDS: caller('The plugin "{plugin}" needs "{token}", which nothing provides.'),
  PERDURE_PLUGIN_DUPLICATE: caller('Both "{plugin}" and "{other}" provide "{token}", which has room for one.'),
  PERDURE_PLUGIN_CYCLE: caller('Plugins need each other in a circle: {cycle}.'),
  PERDURE_PLUGIN_FAILED: unavailable('The plugin "{plugin}" failed in {stage}: {reason}.', false),
  PERDURE_PLUGINS_INVALID: caller('The plugins do not fit together: {problems}'),
  PERDURE_TOKEN_MISSING: caller('Nothing provides "{token}".'),

  // Sessions.
  PERDURE_SESSION_NOT_FOUND: caller('There is no session "{session}".', 404),
  PERDURE_SESSION_EXISTS: conflict('The session "{session}" exists already.'),
  PERDURE_SESSION_ERASED: refused('The session "{session}" was erased.', 410),
  PERDURE_HAS_FORKS: conflict(
    'The session "{session}" cannot be erased: {forks} of its forks read it. `cascade` (--cascade) erases them too.',
  ),
  PERDURE_SESSION_BUSY: conflict('The session "{session}" is busy with turn "{turn}".', true),
  PERDURE_SESSION_ARCHIVED: refused(
    'The session "{session}" has been archived since {since}; restore it to go on with it.',
    409,
  ),
  PERDURE_SESSION_NOT_ARCHIVED: refused('The session "{session}" is not archived.', 409),
  PERDURE_SESSION_CLOSED: caller('The session "{session}" is closed in this process.', 409),
  PERDURE_SESSION_IMPORTING: conflict(
    'The session "{session}" is not whole yet: its import goes on, or must be repeated.',
    true,
  ),
  PERDURE_SESSION_OWNED: conflict('The session "{session}" is owned by the live node "{node}".', true),
  PERDURE_SESSION_FENCED: conflict('This node lost the session "{session}" to epoch {epoch}.'),
  PERDURE_NODE_DRAINING: unavailable('The node "{node}" is drained and takes no more sessions; ask another one.', true),
  PERDURE_NODE_NOT_FOUND: caller('There is no live node "{node}".', 404),
  PERDURE_NODE_RUNNING: conflict('The node "{node}" runs in another process.', true),
  PERDURE_FACT_NEWER: refused(
    'The session "{session}" holds a fact that this build does not know: {type} at revision {revision}.',
    409,
  ),
  PERDURE_INPUT_INVALID: caller('The input is not valid at "{field}": {reason}.'),
  PERDURE_CURSOR_INVALID: caller('The cursor does not belong to the session "{session}".'),
  PERDURE_RUN_NOT_FOUND: caller("no loop checkpoint found for run '{run}'", 404),
  PERDURE_RUN_IDENTITY_CONFLICT: conflict('The run id "{run}" is that of another input, in the session "{session}".'),
  PERDURE_COMMAND_UNKNOWN: caller(
    'There is no command "/{command}"; "/help" lists them, and a space before it sends the text to the model.',
    404,
  ),
  PERDURE_COMMAND_FAILED: unavailable('The command "/{command}" failed: {reason}.', false),
  PERDURE_COMMAND_TIMEOUT: unavailable('The command "/{command}" gave nothing for {ms} ms.', false),
  PERDURE_PROMPT_BLOCKED: refused('The prompt was blocked: {reason}.'),
  PERDURE_CHANGE_DROPPED: refused('The session "{session}" ended before the change took effect.', 409),
  PERDURE_CHANGE_BLOCKED: refused('The change "{change}" was blocked: {reason}.'),
  PERDURE_TURN_STOPPED: refused('The turn was stopped.', 409),
  PERDURE_TURN_TIME_LIMIT: refused('The turn took longer than {ms} ms.', 409),
  PERDURE_TURN_REPEATED_CALLS: refused('The model went on to call "{tool}" with the same arguments.', 409),
  PERDURE_TURN_PARSE_LIMIT: refused('{times} answers in a row had arguments that are not JSON.', 409),
  PERDURE_TURN_STEP_LIMIT: refused('The turn needed more than {limit} model calls.'),
  PERDURE_STORE_REQUIRED: caller('resume_run requires a session_store'),
  PERDURE_NOT_SUPPLIED: refused('The session needs the {kind} "{id}", which this node does not have.', 409),

  // Models.
  PERDURE_MODEL_MISSING: caller('The agent "{agent}" has no model; give it one.'),
  PERDURE_MODEL_UNKNOWN: caller('The agent "{agent}" has no model named "{model}".'),
  PERDURE_MODEL_INVALID: caller('The model "{model}" is not a LanguageModel of specification v2, v3 or v4.'),
  PERDURE_MODEL_RATE_LIMITED: unavailable('The provider refuses further calls at the moment.'),
  PERDURE_MODEL_UNAVAILABLE: unavailable('The provider could not answer.'),
  PERDURE_MODEL_AUTHENTICATION: refused('The provider refused the credentials.', 401),
  PERDURE_MODEL_REQUEST: caller('The provider refused the request.'),
  PERDURE_MODEL_CONTEXT_OVERFLOW: caller("The request is larger than the model's context window.", 413),
  PERDURE_MODEL_TIMEOUT: unavailable('The provider gave nothing for {ms} ms.'),
  PERDURE_MODEL_PROTOCOL: unavailable('The answer of the provider ended early or could not be read.'),
  PERDURE_ANSWER_TRUNCATED: refused('The answer reached the limit of output tokens and is cut.', 413),
  PERDURE_ANSWER_FILTERED: refused("The provider's content filter cut the answer."),
  PERDURE_OBJECT_INVALID: refused(
    'The model gave no valid object in {attempts} answers; the last is wrong at "{path}": {reason}.',
    422,
  ),
  PERDURE_ANSWER_TOO_LARGE: refused('The answer is larger than the store can keep.', 413),

  // Tools.
  PERDURE_TOOL_UNKNOWN: caller('There is no tool "{tool}".', 404),
  PERDURE_TOOL_INPUT: caller('The arguments of "{tool}" are not valid at "{field}": {reason}.'),
  PERDURE_TOOL_DENIED: refused('The call of "{tool}" was denied: {reason}.'),
  PERDURE_TOOL_NOBODY_TO_ASK: refused('The call of "{tool}" needs a permission and there is nobody to ask.'),
  PERDURE_TOOL_FAILED: unavailable('The tool "{tool}" failed: {reason}.', false),
  PERDURE_TOOL_TIMEOUT: unavailable('The tool "{tool}" gave nothing for {ms} ms.', false),
  PERDURE_TOOL_CANCELLED: refused('The call of "{tool}" was cancelled.', 409),
  PERDURE_TOOL_RECURSION: refused('"{tool}" cannot be called as a part of itself: {within}.'),
  PERDURE_TOOL_READ_ONLY: refused('"{tool}" is not a tool that only reads, and this agent may use no other.'),
  PERDURE_TOOL_REPEATED: refused('"{tool}" was called with the same arguments {times} times in a row.'),
  PERDURE_TOOL_CALL_OVER: refused('"{tool}" cannot be called: the call that it would be a part of has ended.', 409),
  PERDURE_TOOL_CALL_LIMIT: refused('A call has at most {limit} parts.'),
  PERDURE_CHILD_AGENT_UNKNOWN: caller('There is no agent "{agent}" that work could be handed to.', 404),
  PERDURE_CHILD_UNKNOWN: caller('"{child}" is no session that this one handed work to.', 404),
  PERDURE_CHILD_LIMIT: refused('No further work can be handed on: {reason}.', 429),
  PERDURE_TOOL_LANE_TIMEOUT: unavailable(
    '"{tool}" waited {ms} ms for its turn in the lane "{lane}" and was not run.',
    true,
  ),
  PERDURE_TOOL_UNKNOWN_OUTCOME: conflict('Whether the call of "{tool}" took effect is not known; it was not repeated.'),
  PERDURE_BUDGET_EXHAUSTED: refused('The budget of "{resource}" is exhausted: {reason}.', 429),
  PERDURE_BUDGET_PRICE_UNKNOWN: refused('The budget of "{resource}" is limited and {reason}.'),
  PERDURE_INTERACTION_NOT_FOUND: caller('There is no interaction "{interaction}" in the session "{session}".', 404),
  PERDURE_INTERACTION_ANSWERED: conflict('The interaction "{interaction}" was answered by "{by}": {decision}.'),
  PERDURE_INTERACTION_CHANGED: conflict(
    'The interaction "{interaction}" is about other arguments than those that were answered.',
  ),
  PERDURE_INTERACTION_EXPIRED: conflict('The interaction "{interaction}" has expired.'),
  PERDURE_TOOL_ASKS: refused('The tool "{tool}" asks people, and this call can wait for nobody.'),
  PERDURE_TOOL_UNANSWERED: refused('Nobody answered what "{tool}" asked in time.', 408),
  PERDURE_TOOL_DECLINED: refused('"{by}" declined to answer what "{tool}" asked.', 409),
  PERDURE_GATE_FAILED: refused('The gate "{gate}" gave no decision: {reason}.'),
  PERDURE_SECRET_IN_ARGUMENTS: refused(
    'The arguments of "{tool}" hold a credential. It was taken out; nothing was run. Pass secret://<name>.',
  ),
  PERDURE_SECRET_UNKNOWN: refused('{user} refers to the secret "{secret}", which is not registered.'),
  PERDURE_MCP_UNAVAILABLE: unavailable('The MCP server "{server}" cannot be used: {reason}.'),
  PERDURE_MCP_TOOL_CHANGED: conflict(
    'The MCP server "{server}" offers "{tool}" otherwise than when the step began; it was not called.',
  ),
  PERDURE_SANDBOX_UNAVAILABLE: unavailable('No command can be closed in here: {reason}.', false),
  PERDURE_SANDBOX_PATH: refused('The sandbox does not open "{path}": {reason}.'),

  // Stores.
  PERDURE_STORE_UNAVAILABLE: unavailable('The store cannot be used: {reason}.'),
  PERDURE_STORE_AMBIGUOUS: unavailable(
    'It may be stored or not: {reason}. To bring it again with the same id is safe, and does it once.',
  ),
  PERDURE_STORE_CLOSED: unavailable('The store is closed.', false),
  PERDURE_STORE_READ_ONLY: unavailable('The store cannot be written: {reason}.', false),
  PERDURE_STORE_FULL: unavailable('The store has no room left.'),
  PERDURE_STORE_DAMAGED: unavailable('The store is damaged: {reason}.', false),
  PERDURE_STORE_TRUNCATED: unavailable('Facts are missing behind revision {lastRevision} of "{stream}".', false),
  PERDURE_STORE_NEWER: refused('The store has schema {actual}; this build reads up to {expected}.', 409),
  PERDURE_STORE_CONTENDED: conflict('The input could not be appended to "{session}" in {tries} tries.', true),
  PERDURE_STORE_TOO_LARGE: caller('{bytes} bytes are more than the store keeps as one: {limit}.', 413),
  PERDURE_SNAPSHOT_UNSUPPORTED: caller("session store '{store}' does not support aggregate session snapshots", 501),
  PERDURE_SNAPSHOT_INVALID: caller('The snapshot is not valid at "{field}": {reason}.'),
  PERDURE_CHAIN_BROKEN: unavailable('The hash chain of "{stream}" is broken at revision {revision}.', false),
  PERDURE_FORK_ORIGIN_MISSING: unavailable(
    'The session "{session}" is a fork of "{origin}" at revision {revision}, which is not here: import that first.',
    false,
  ),
  PERDURE_ANCHOR_MISMATCH: unavailable(
    'The stream "{stream}" does not lead to its anchor at revision {revision}.',
    false,
  ),
  PERDURE_REPLAY_DIFFERS: conflict('Replay of "{session}" differs at revision {revision}: {type} ({path}).'),

  // Relays to places outside of the store.
  PERDURE_RELAY_TOPIC: refused(
    'The topic "{topic}" has {setting} {actual}, where the relay needs {expected}; nothing was sent.',
    409,
  ),
  PERDURE_RELAY_DENIED: refused('The brokers refuse the relay: {reason}.'),
  PERDURE_RELAY_UNAVAILABLE: unavailable('The brokers cannot be used: {reason}.'),
  PERDURE_RELAY_FENCED: conflict('This relay lost "{target}", which it had as epoch {epoch}, to another one.'),

  PERDURE_INTERNAL: { message: 'Perdure has a bug: {reason}.', kind: 'bug', retryable: false, status: 500 },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;
