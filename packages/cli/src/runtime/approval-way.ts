import { APPROVAL, ASKER, PerdureError } from '@perdure/plugin-api';
import { providedTokens, type RuntimeOptions } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import type { ApprovalMode } from '../config/perdure-config.js';
import type { Settings } from '../config/settings.js';

/** What becomes of calls that the rules leave open. */
export interface ApprovalWay {
  /** `plugin`: a plugin of the configuration decides about it. */
  readonly mode: ApprovalMode | 'plugin';
  /** For the runtime. */
  readonly approvals: RuntimeOptions['approvals'];
}

/**
 * Who is asked in a run: the person at the terminal when there is one, and nobody in a pipe, unless the command line or
 * the configuration has the turn wait. Throws PERDURE_CONFIGURATION for a flag that cannot be followed.
 */
export async function approvalWay(settings: Settings, { screen, json }: CliContext): Promise<ApprovalWay> {
  const { plugins, pluginRoot, approvalsFlag } = settings;
  const provided = await providedTokens(plugins, pluginRoot);
  const provider = provided.get(ASKER.name) ?? provided.get(APPROVAL.name);
  if (provider !== undefined) {
    if (approvalsFlag === undefined) return { mode: 'plugin', approvals: undefined };
    throw unfit(`the plugin "${provider}" decides about it`);
  }
  const { mode = 'ask', ...expiry } = settings.approvals;
  if (mode === 'wait') return { mode, approvals: expiry };
  if (mode === 'deny') return { mode, approvals: 'off' };
  if (screen.isInteractive && !json) return { mode: 'ask', approvals: 'off' };
  if (approvalsFlag === 'ask') throw unfit('there is no terminal to ask at');
  return { mode: 'deny', approvals: 'off' };
}

function unfit(reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: '--approvals', reason });
}
