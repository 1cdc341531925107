import type { AgentOptions, Session } from '@perdure/plugin-api';
import type { PerdureRuntime, RuntimeAgent } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import type { Settings } from '../config/settings.js';
import { askerPlugin, terminalLine, TerminalAsker } from '../terminal/terminal-asker.js';
import { TurnFollower } from '../turn/turn-follower.js';
import type { NextCommands } from '../turn/next-commands.js';
import { approvalWay, type ApprovalWay } from './approval-way.js';
import { openRuntime } from './open-runtime.js';
import { requireSandbox } from './require-sandbox.js';

export interface AgentAtWork {
  readonly runtime: PerdureRuntime;
  readonly agent: RuntimeAgent;
  /** What becomes of calls that the rules leave open. */
  readonly approvals: ApprovalWay['mode'];
  /** Shows one turn of a session. */
  readonly follower: (session: Session, commands: NextCommands) => TurnFollower;
}

/** Runs work with the configured agent and ends everything in order. Persons are asked when there is a terminal. */
export async function withAgent(
  context: CliContext,
  settings: Settings,
  options: AgentOptions,
  work: (parts: AgentAtWork) => Promise<number>,
): Promise<number> {
  const { screen, logger } = context;
  let followed: TurnFollower | undefined;
  const { mode, approvals } = await approvalWay(settings, context);
  const askLine = terminalLine(screen.streams, () => followed?.signals.interrupt());
  const plugins = mode === 'ask' ? [askerPlugin(new TerminalAsker(screen, askLine))] : [];
  const runtime = await openRuntime(settings, logger, { plugins, approvals });
  try {
    await requireSandbox(settings, runtime);
    const agent = runtime.agent(options);
    await agent.ready();
    const follower = (session: Session, commands: NextCommands): TurnFollower => {
      const ground = { runtime, tools: options.tools ?? {}, session: session.id, workspace: options.workspace };
      followed = new TurnFollower(context, session, { ground, commands });
      return followed;
    };
    return await work({ runtime, agent, follower, approvals: mode });
  } finally {
    await runtime.dispose();
    followed?.signals.dispose();
  }
}
