import { noUsage, type Actor, type Failure, type PayloadOf } from '@perdure/events';
import {
  errorMessage,
  isPerdureError,
  PerdureError,
  reasonOf,
  type CommandContext,
  type TurnResult,
} from '@perdure/plugin-api';
import { costMicros } from '../project/usage.js';
import type { ModelPrice } from '../host/runtime-options.js';
import type { AgentView } from '../host/agent-view.js';
import { excerptOf } from '../invoke/output-excerpt.js';
import { TimeoutReached, withTimeout } from '../invoke/with-timeout.js';
import { readChain } from '../session/chain-reader.js';
import { refuseArchived } from '../session/refuse-archived.js';
import { changeHandle } from '../session/change-handle.js';
import { openStream } from '../session/open-stream.js';
import type { LoadedSession } from '../session/loaded-session.js';
import { refuseNewer } from '../session/ownership.js';
import { refuseErased } from '../session/refuse-erased.js';
import type { SessionHome } from '../session/session-home.js';
import { currentTurn, type SessionState } from '../session/session-state.js';
import type { BuiltInContext, CommandOutcome } from './built-in-commands.js';
import type { CalledCommand } from './called-command.js';
import { findCommand, listCommands, type ListedCommand } from './command-list.js';

const DEFAULT_TIMEOUT_MS = 5_000;
/** Characters that are kept. */
const LONGEST_INPUT = 4_096;
const LONGEST_OUTPUT = 16_384;

const USER: Actor = { kind: 'user' };

/** A command that ran, and the revision before its fact. */
export interface RanCommand {
  readonly commandId: string;
  readonly promptId: string;
  readonly from: number;
  readonly isKnown: boolean;
  readonly result: TurnResult;
}

/**
 * Runs a command in the place of a turn and records that it ran, with its outcome. A command that ran under the same
 * prompt id is not run again. Throws PERDURE_SESSION_BUSY while a turn has not ended and PERDURE_COMMAND_UNKNOWN;
 * nothing is stored then.
 */
export async function runCommand(called: CalledCommand, loaded: LoadedSession, home: SessionHome): Promise<RanCommand> {
  const { journal, env, key, redaction } = loaded.work;
  await journal.refresh();
  const promptId = called.promptId === undefined ? undefined : redaction.redactText(called.promptId);
  const known = promptId === undefined ? undefined : await recordedCommand(loaded, promptId);
  if (known !== undefined) return known;
  refuseNewer(journal.state, key.id);
  refuseArchived(journal.state, key.id);
  refuseErased(journal.state, key.id);
  const busy = currentTurn(journal.state);
  if (busy !== undefined) throw new PerdureError('PERDURE_SESSION_BUSY', { session: key.id, turn: busy.turnId });
  const command = findCommand(called.name, home.agent(), home.additions);
  // What its first fact says of a session, a command of it may ask for.
  await openStream(journal, loaded.create);
  const commandId = env.idGenerator.next(`${key.id}-${journal.state.ownership.epoch}-command`);
  const startedAt = env.clock.now();
  const outcome = await perform(command, called.input, loaded, home);
  // Nobody would learn of a command whose session was let go under it; it may have had its effect.
  loaded.signal.throwIfAborted();
  const fact: PayloadOf<'CommandRan'> = {
    commandId,
    ...(promptId === undefined ? {} : { promptId }),
    name: called.name,
    // What is cut first could be cut within a secret, and would not be found.
    input: redaction.redactText(called.input).slice(0, LONGEST_INPUT),
    output: 'output' in outcome ? bounded(redaction.redactText(outcome.output)) : '',
    ...('failure' in outcome ? { failure: outcome.failure } : {}),
    startedAt,
    endedAt: env.clock.now(),
  };
  const ran = redaction.redactFact(fact);
  const from = journal.head;
  const other = await loaded.accept((batch) => {
    refuseArchived(batch.state, key.id);
    const isOther = promptId !== undefined && knownCommand(batch.state, promptId) !== undefined;
    if (!isOther) batch.add('CommandRan', ran, {}, USER);
    return isOther ? promptId : undefined;
  });
  const recorded = other === undefined ? undefined : await recordedCommand(loaded, other);
  return recorded ?? ranCommand(ran, from, false);
}

/** What every command may know. */
export function commandContext(
  { work }: LoadedSession,
  agent: AgentView,
  prices: Readonly<Record<string, ModelPrice>>,
  signal: AbortSignal,
): CommandContext {
  const { state } = work.journal;
  const { context, usage, identity } = state;
  return {
    sessionId: work.key.id,
    workspace: identity?.workspace ?? null,
    model: state.model ?? agent.parts.defaultModel ?? null,
    historyLen: context.length,
    totalTokens: usage.totalTokens,
    totalCost: costOf(state, prices),
    toolNames: [...agent.toolSet(identity?.workspace).tools.keys()],
    mcpServers: [],
    signal,
  };
}

async function perform(
  listed: ListedCommand,
  input: string,
  loaded: LoadedSession,
  home: SessionHome,
): Promise<CommandOutcome> {
  const agent = home.agent();
  const { name } = listed.command;
  try {
    if (listed.source === 'built-in') {
      const context: BuiltInContext = {
        ...commandContext(loaded, agent, home.prices, loaded.signal),
        state: loaded.work.journal.state,
        models: [...agent.parts.models.keys()],
        commands: listCommands(agent, home.additions),
        change: async (change) => (await changeHandle(home, change)).finished,
      };
      return await listed.command.run(input, context);
    }
    const { handler, timeoutMs = DEFAULT_TIMEOUT_MS } = listed.command;
    const output: unknown = await withTimeout(timeoutMs, loaded.signal, (signal) =>
      handler(input, commandContext(loaded, agent, home.prices, signal)),
    );
    if (typeof output === 'string') return { output };
    return { failure: failed(name, 'it gave no text') };
  } catch (error) {
    if (error instanceof TimeoutReached) {
      const code = 'PERDURE_COMMAND_TIMEOUT';
      return { failure: { code, message: errorMessage(code, { command: name, ms: error.ms }) } };
    }
    if (isPerdureError(error)) return { failure: { code: error.code, message: error.message } };
    return { failure: failed(name, reasonOf(error)) };
  }
}

function failed(command: string, reason: string): Failure {
  const code = 'PERDURE_COMMAND_FAILED';
  return { code, message: errorMessage(code, { command, reason }) };
}

function bounded(output: string): string {
  return output.length <= LONGEST_OUTPUT ? output : excerptOf(output, LONGEST_OUTPUT, undefined);
}

/** In whole currency units; `null` when a model that was used has no price. */
function costOf({ spent }: SessionState, prices: Readonly<Record<string, ModelPrice>>): number | null {
  let micros = 0;
  for (const one of spent) {
    const cost = costMicros(one, prices);
    if (cost === undefined) return null;
    micros += cost;
  }
  return spent.length === 0 && Object.keys(prices).length === 0 ? null : micros / 1_000_000;
}

function knownCommand({ commands }: SessionState, promptId: string): number | undefined {
  for (let index = commands.length - 1; index >= 0; index--) {
    const command = commands.at(index);
    if (command?.promptId === promptId) return command.revision;
  }
  return undefined;
}

/** What the stream says of a command that ran under a prompt id. */
async function recordedCommand({ work }: LoadedSession, promptId: string): Promise<RanCommand | undefined> {
  const { journal, store } = work;
  const revision = knownCommand(journal.state, promptId);
  if (revision === undefined) return undefined;
  for await (const [fact] of readChain(store, journal.stream, { from: revision }, { until: revision + 1 })) {
    if (fact === undefined) continue;
    return ranCommand(journal.registry.read(fact).payload as PayloadOf<'CommandRan'>, revision - 1, true);
  }
  return undefined;
}

function ranCommand(fact: PayloadOf<'CommandRan'>, from: number, isKnown: boolean): RanCommand {
  const { commandId, promptId = commandId, output, failure } = fact;
  const result: TurnResult = {
    success: failure === undefined,
    status: failure === undefined ? 'completed' : 'failed',
    text: output,
    ...(failure === undefined ? {} : { error: failure }),
    usage: noUsage,
    turnId: commandId,
    runId: null,
  };
  return { commandId, promptId, from, isKnown, result };
}
