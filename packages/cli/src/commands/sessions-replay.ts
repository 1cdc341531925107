import { sessionStream, type SessionKey } from '@perdure/events';
import { loadSession } from '@perdure/core';
import { PerdureError, type AgentOptions } from '@perdure/plugin-api';
import { stateHash, type ReplayReport } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { agentOptions } from '../config/agent-options.js';
import type { ModelFlags } from '../config/model-endpoint.js';
import type { RuleFlags, Settings } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { openRuntime } from '../runtime/open-runtime.js';
import { recordedModels } from '../sessions/recorded-models.js';
import { requireRecorded } from '../sessions/recorded-session.js';
import { settingsToReplay } from '../sessions/session-settings.js';
import { askerPlugin } from '../terminal/terminal-asker.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';

export interface SessionsReplayFlags extends SessionsFlags, RuleFlags, ModelFlags {
  readonly verify?: boolean;
}

interface Replayed {
  readonly report: ReplayReport;
  /** Hash of the state that the whole facts fold to, and of the one that a session is opened with. */
  readonly replayed: string;
  readonly loaded: string | undefined;
}

/** `perdure sessions replay ID`: the recorded decisions again, with the agent as it is configured. */
export async function sessionsReplay(context: CliContext, id: string, flags: SessionsReplayFlags): Promise<number> {
  const key = sessionKey(id, flags);
  const settings = await settingsToReplay(context, key, flags);
  const options = agentOptions(settings, flags, context.environment, false);
  let result = await replay(context, settings, options, key, { canAsk: false, verify: flags.verify === true });
  if (result.report.difference?.path === 'setup.policy') {
    // A run at a terminal had someone to ask, which is part of its policy.
    const asked = await replay(context, settings, options, key, { canAsk: true, verify: flags.verify === true });
    const isFurther =
      (asked.report.difference?.revision ?? Number.POSITIVE_INFINITY) > result.report.difference.revision;
    if (isFurther) result = asked;
  }
  await show(context, result);
  const { difference } = result.report;
  if (difference !== undefined) {
    const { revision, type, path } = difference;
    throw new PerdureError('PERDURE_REPLAY_DIFFERS', { session: id, revision, type, path });
  }
  if (result.loaded !== undefined && result.loaded !== result.replayed) {
    const last = result.report.facts - 1;
    throw new PerdureError('PERDURE_REPLAY_DIFFERS', { session: id, revision: last, type: 'state', path: 'stateHash' });
  }
  return exitCodes.completed;
}

async function replay(
  { logger }: CliContext,
  settings: Settings,
  options: AgentOptions,
  key: SessionKey,
  { canAsk, verify }: { readonly canAsk: boolean; readonly verify: boolean },
): Promise<Replayed> {
  const nobody = askerPlugin({ ask: () => Promise.resolve('deny') });
  const runtime = await openRuntime(settings, logger, canAsk ? [nobody] : []);
  try {
    const { agentId } = await requireRecorded(runtime, key);
    if (settings.config.agent?.id !== undefined && settings.config.agent.id !== agentId) {
      const reason = `the session belongs to the agent "${agentId}"`;
      throw new PerdureError('PERDURE_SESSION_CONFIGURATION', { field: 'agentId', reason });
    }
    const recorded = await recordedModels(runtime, key);
    const models = { ...Object.fromEntries(recorded), ...options.models };
    const tenant = key.tenant === undefined ? {} : { tenant: key.tenant };
    const agent = runtime.agent({ model: [...recorded.keys()][0] ?? '', ...options, id: agentId, ...tenant, models });
    const report = await agent.replay(key.id);
    const { store, facts } = runtime.services;
    const loaded = verify ? stateHash((await loadSession(store, sessionStream(key), facts)).state) : undefined;
    return { report, replayed: stateHash(report.state), loaded };
  } finally {
    await runtime.dispose();
  }
}

async function show(
  { screen: { out, outStyle }, json }: CliContext,
  { report, replayed, loaded }: Replayed,
): Promise<void> {
  const { session, facts, inputs, derived, drift, difference } = report;
  const isSame = difference === undefined && (loaded === undefined || loaded === replayed);
  if (json) {
    const verified = loaded === undefined ? {} : { stateHash: replayed, loadedStateHash: loaded };
    await out.line(
      JSON.stringify({ session, facts, inputs, derived, drift, difference: difference ?? null, ...verified }),
    );
    return;
  }
  await out.line(`replayed ${visible(session)}: ${facts} facts, of them ${inputs} inputs and ${derived} derived again`);
  for (const { runId, deciderVersion } of drift) {
    await out.line(
      outStyle.yellow(`run ${runId} was decided by version ${deciderVersion}; its facts are not compared`),
    );
  }
  if (difference !== undefined) {
    const { revision, type, path, recorded, derived: made } = difference;
    await out.line(outStyle.red(`difference at revision ${revision}: ${type} ${path}`));
    await out.line(`  recorded  ${visible(recorded)}`);
    await out.line(`  derived   ${visible(made)}`);
    if (path === 'setup.policy')
      await out.line('  The rules are not those of the run: give the same --allow and --deny.');
    else if (path.startsWith('setup'))
      await out.line('  The agent is not configured as it was when this was recorded.');
  }
  if (loaded !== undefined && difference === undefined) await out.line(`state ${replayed}`);
  if (isSame) await out.line(outStyle.green('no difference'));
}
