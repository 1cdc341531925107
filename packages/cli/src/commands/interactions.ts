import { userInfo } from 'node:os';
import type { ApprovalResponse, Session } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { openForReading } from '../sessions/recorded-session.js';
import { describeInteraction } from '../terminal/describe-interaction.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface AnswerFlags extends SessionsFlags {
  readonly reason?: string;
  readonly by?: string;
}

/** `perdure interactions SESSION`: what waits for a person. */
export function showInteractions(context: CliContext, id: string, flags: SessionsFlags): Promise<number> {
  return onSession(context, id, flags, async (session) => {
    const { screen, json } = context;
    const pending = await session.interactions();
    if (json) await screen.out.line(jsonText(pending));
    else for (const each of pending) await screen.out.line(describeInteraction(each));
    if (!json && pending.length === 0) await screen.note('nobody is asked for anything');
    return exitCodes.completed;
  });
}

/** `perdure approve` and `perdure deny`: the answer to one approval, or to the only one. */
export function answerInteraction(
  context: CliContext,
  decision: ApprovalResponse['decision'],
  id: string,
  interaction: string | undefined,
  flags: AnswerFlags,
): Promise<number> {
  return onSession(context, id, flags, async (session) => {
    const { screen, json } = context;
    const pending = await session.interactions();
    const approvals = pending.filter(({ kind }) => kind === 'approval');
    const [only] = approvals;
    if (interaction === undefined && approvals.length !== 1) {
      await screen.note(only === undefined ? 'no approval waits' : 'several calls are asked about; name one of them:');
      for (const each of approvals) await screen.note(describeInteraction(each));
      return exitCodes.usage;
    }
    const chosen = interaction ?? only?.id ?? '';
    // What was shown is what is answered.
    const digest = pending.find((each) => each.id === chosen)?.argumentDigest;
    await session.respond({
      id: chosen,
      decision,
      by: flags.by ?? userInfo().username,
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(digest === undefined ? {} : { argumentDigest: digest }),
    });
    const left = pending.length - 1;
    if (json) await screen.out.line(jsonText({ id: chosen, decision, left }));
    else await screen.note(`${decision === 'allow' ? 'allowed' : 'denied'} ${chosen}; ${left} left`);
    return exitCodes.completed;
  });
}

/** `perdure stop SESSION`: ends the turn that runs, wherever it runs. */
export function stopSession(context: CliContext, id: string, flags: AnswerFlags): Promise<number> {
  return onSession(context, id, flags, async (session) => {
    const { screen, json } = context;
    const { stopped, turnId } = await session.stop(flags.reason);
    if (json) await screen.out.line(jsonText({ stopped, turnId }));
    else await screen.note(stopped ? `the turn ${visible(turnId ?? '')} is told to end` : 'no turn runs');
    return exitCodes.completed;
  });
}

/** Works on one session of the store, without running it. */
export function onSession(
  context: CliContext,
  id: string,
  flags: SessionsFlags,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  return withStore(context, flags, async (runtime) => work(await openForReading(runtime, sessionKey(id, flags))));
}
