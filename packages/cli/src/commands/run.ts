import { resolve } from 'node:path';
import type { CliContext } from '../cli-context.js';
import { agentOptions } from '../config/agent-options.js';
import type { ModelFlags } from '../config/model-endpoint.js';
import { resolveSettings, type PlaceFlags, type RuleFlags } from '../config/settings.js';
import { requireModel } from '../runtime/require-model.js';
import { withAgent } from '../runtime/with-agent.js';
import { settingsOfSession } from '../sessions/session-settings.js';
import { warnOfStoreInside } from '../runtime/store-place.js';
import { nextCommands } from '../turn/next-commands.js';
import { limitedSession, parseBudget } from '../sessions/session-budget.js';
import { readPrompt } from '../turn/read-prompt.js';
import { announceSession } from '../turn/turn-follower.js';

export interface RunFlags extends PlaceFlags, RuleFlags, ModelFlags {
  readonly session?: string;
  readonly budget?: string;
  readonly attach?: readonly string[];
  readonly agent?: string;
}

/** `perdure run`: one prompt, shown until its turn ends. */
export async function runCommand(context: CliContext, prompt: string, flags: RunFlags): Promise<number> {
  const query = await readPrompt(prompt, context.screen.streams.input);
  const { session: sessionId } = flags;
  const budget = flags.budget === undefined ? undefined : parseBudget(flags.budget);
  const settings =
    sessionId === undefined ? await resolveSettings(flags) : await settingsOfSession(context, { id: sessionId }, flags);
  await warnOfStoreInside(settings, context);
  const options = agentOptions(settings, flags, context.environment, true);
  return withAgent(context, settings, options, async ({ runtime, agent, follower }) => {
    const { workspace } = settings;
    const named = {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(flags.agent === undefined ? {} : { agent: flags.agent }),
    };
    const session =
      budget === undefined
        ? agent.session(workspace, named)
        : await limitedSession(runtime, agent, named, workspace, budget);
    requireModel(runtime, options, (await session.info()).model);
    await announceSession(context, session);
    const following = follower(session, nextCommands(session.id, flags));
    // Paths are of the user, and not of the agent's workspace.
    const attachments = (flags.attach ?? []).map((path) => resolve(path));
    const stream = session.stream({ query, attachments });
    return following.follow({ events: stream, isEnd: () => false, finished: stream.finished });
  });
}
