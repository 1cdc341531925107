import type { Interaction, ResumeOptions, Session, TurnHandle } from '@perdure/plugin-api';
import type { RuntimeAgent } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { agentOptions } from '../config/agent-options.js';
import type { ModelFlags } from '../config/model-endpoint.js';
import { resolveSettings, type PlaceFlags, type RuleFlags, type Settings } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { requireModel } from '../runtime/require-model.js';
import { warnOfStoreInside } from '../runtime/store-place.js';
import { withAgent } from '../runtime/with-agent.js';
import { settingsOfSession } from '../sessions/session-settings.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { nextCommands, type NextCommands } from '../turn/next-commands.js';
import { announceSession } from '../turn/turn-follower.js';
import { waitForOwner } from '../turn/wait-for-owner.js';

/** The tool by which models ask people. */
const ASK_USER = 'ask_user';

export interface ResumeFlags extends PlaceFlags, RuleFlags, ModelFlags, ResumeOptions {}

/** `perdure resume`: goes on with a turn that did not end. Without an id, with the newest of this workspace. */
export async function resumeSession(
  context: CliContext,
  sessionId: string | undefined,
  flags: ResumeFlags,
): Promise<number> {
  const settings =
    sessionId === undefined ? await resolveSettings(flags) : await settingsOfSession(context, { id: sessionId }, flags);
  await warnOfStoreInside(settings, context);
  const options = agentOptions(settings, flags, context.environment, true);
  return withAgent(context, settings, options, async ({ runtime, agent, follower, approvals }) => {
    const session = await findUnfinished(agent, sessionId, settings);
    if (session === undefined) return nothingToDo(context, `There is no unfinished session of ${settings.workspace}.`);
    const { cursor, turn, model } = await session.info();
    if (turn === null) return nothingToDo(context, `The session ${session.id} has no turn that did not end.`);
    requireModel(runtime, options, model);
    await announceSession(context, session);
    const commands = nextCommands(session.id, flags);
    const waiting = await session.interactions();
    const mayWait = approvals === 'wait' || approvals === 'plugin';
    if (waiting.length > 0 && !mayWait) return leaveWaiting(context, waiting, commands);
    if (!context.json) await showWaiting(context, waiting, commands);
    // As long as another process has the session, a Ctrl-C ends the wait and not the turn.
    // A run that waits for people lets its model ask them; one that does not goes on without.
    const withoutMissing = flags.withoutMissing ?? (mayWait ? false : [ASK_USER]);
    const handle = await take(session, { ...flags, withoutMissing }, context, runtime.services.config.leaseTtlMs);
    if (handle === null) return nothingToDo(context, `The turn of the session ${session.id} has ended meanwhile.`);
    return follower(session, commands).follow({
      events: session.events({ from: cursor }),
      isEnd: ({ type, payload, metadata }) => {
        if (type === 'agent_end' || type === 'error') return payload['turn_id'] === handle.id;
        return type === 'prompt_cancelled' && metadata?.['turn_id'] === handle.id;
      },
      finished: handle.finished,
    });
  });
}

/** Takes the session, after waiting for its owner to die when there is one. */
function take(
  session: Session,
  { takeOver = false, withoutMissing = false }: ResumeOptions,
  { screen, json }: CliContext,
  leaseMs: number,
): Promise<TurnHandle | null> {
  const seconds = Math.ceil(leaseMs / 1_000);
  return waitForOwner(
    () => session.resume({ takeOver, withoutMissing }),
    leaseMs,
    async (node) => {
      if (json) return;
      await screen.note(
        `the node ${node} runs this session; waiting up to ${seconds} s for it to let go or to be lost`,
      );
      await screen.wait(`waiting for ${node}`);
    },
  );
}

/** The session by its id, or the one of this workspace that was at work last and did not end. */
async function findUnfinished(
  agent: RuntimeAgent,
  sessionId: string | undefined,
  { workspace }: Settings,
): Promise<Session | undefined> {
  if (sessionId !== undefined) return agent.sessions.get(sessionId);
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof agent.sessions.list>> = await agent.sessions.list({
      limit: 500,
      ...(cursor === null ? {} : { cursor }),
    });
    const found = page.items.find((item) => item.status !== 'idle' && item.workspace === workspace);
    if (found !== undefined) return agent.sessions.get(found.id);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return undefined;
}

/** Somebody was asked durably, and a process that may not wait has nothing to do before the answer. */
async function leaveWaiting(
  context: CliContext,
  waiting: readonly Interaction[],
  commands: NextCommands,
): Promise<number> {
  const { screen, json } = context;
  const { resume } = commands;
  const message = `The turn waits for ${waiting.length === 1 ? 'an answer' : `${waiting.length} answers`}.`;
  const ids = waiting.map(({ id }) => id);
  const exitCode = exitCodes.failed;
  if (json) {
    await screen.out.line(jsonText({ result: { status: 'waiting', message, interactions: ids, resume, exitCode } }));
    return exitCode;
  }
  await screen.note(message);
  await showWaiting(context, waiting, commands);
  await screen.note(`to go on: ${visible(resume)}, or wait here with --approvals wait`);
  return exitCode;
}

async function showWaiting(
  { screen }: CliContext,
  waiting: readonly Interaction[],
  { approve, answer }: NextCommands,
): Promise<void> {
  for (const { id, kind } of waiting) {
    const command =
      kind === 'approval'
        ? `${visible(approve)} ${visible(id)}   (or perdure deny)`
        : `${visible(answer)} ${visible(id)} --answer QUESTION=ANSWER`;
    await screen.note(`  ${command}`);
  }
}

async function nothingToDo({ screen, json }: CliContext, message: string): Promise<number> {
  if (json) await screen.out.line(jsonText({ result: { status: 'nothing-to-do', message, exitCode: 0 } }));
  else await screen.note(visible(message));
  return exitCodes.completed;
}
