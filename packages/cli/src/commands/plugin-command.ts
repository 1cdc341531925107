import { CLI_COMMANDS, PerdureError, type AgentOptions } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { agentOptions } from '../config/agent-options.js';
import { resolveSettings, type Settings } from '../config/settings.js';
import { approvalWay } from '../runtime/approval-way.js';
import { openRuntime } from '../runtime/open-runtime.js';

/** `perdure NAME …` for a command that a plugin of the configuration adds. Throws PERDURE_INPUT_INVALID for none. */
export async function pluginCommand(context: CliContext, name: string, args: readonly string[]): Promise<number> {
  const settings = await resolveSettings({});
  if (settings.plugins.length === 0) throw unknown(name);
  // A command of a plugin is a host of its own: calls that are left open wait, unless the configuration denies them.
  const { mode, ...expiry } = settings.approvals;
  const { mode: way } = await approvalWay(settings, context);
  const approvals = way === 'plugin' ? undefined : mode === 'deny' ? 'off' : expiry;
  const runtime = await openRuntime(settings, context.logger, { approvals });
  try {
    const command = runtime.services.container.get(CLI_COMMANDS).find((known) => known.name === name);
    if (command === undefined) throw unknown(name);
    // Commands reach the agent by the AGENTS token.
    await runtime.agent(agentFor(settings, context)).ready();
    const { out, error } = context.screen;
    const exitCode = await command.run(args, {
      out: (text) => void out.write(text),
      error: (text) => void error.write(text),
    });
    return Number.isInteger(exitCode) ? exitCode : 1;
  } finally {
    await runtime.dispose();
  }
}

function agentFor(settings: Settings, { environment }: CliContext): AgentOptions {
  return agentOptions(settings, {}, environment, true);
}

function unknown(name: string): PerdureError {
  const reason = `there is no command "${name}"; perdure --help lists them`;
  return new PerdureError('PERDURE_INPUT_INVALID', { field: 'command', reason });
}
