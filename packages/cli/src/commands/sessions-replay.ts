import { sessionStream, type SessionKey } from '@perdure/events';
import { loadSession } from '@perdure/core';
import { PerdureError, TOOLS, type AgentOptions, type Asker, type PermissionPolicy } from '@perdure/plugin-api';
import {
  approvalPolicy,
  policyApproval,
  stateHash,
  toolsShell,
  type Governance,
  type PerdureRuntime,
  type Plugin,
  type ReplayReport,
} from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { agentOptions, DEFAULT_AGENT } from '../config/agent-options.js';
import type { ModelFlags } from '../config/model-endpoint.js';
import type { RuleFlags, Settings } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { openRuntime } from '../runtime/open-runtime.js';
import { requireRecorded } from '../sessions/recorded-session.js';
import { recordedModels, recordedPolicies, recordedSetups } from '../sessions/recorded-setup.js';
import { settingsToReplay } from '../sessions/session-settings.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';

export interface SessionsReplayFlags extends SessionsFlags, RuleFlags, ModelFlags {
  readonly verify?: boolean;
  readonly recordedRules?: boolean;
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
  // Whether this machine has a sandbox says nothing about the one that the session ran on.
  const shell = settings.shell === 'off' ? settings.shell : { ...settings.shell, withoutSandbox: 'refuse' as const };
  const runtime = await openRuntime({ ...settings, shell }, context.logger);
  try {
    const options = agentOptions(settings, flags, context.environment, false);
    const result = await replay(runtime, key, options, settings, flags);
    await show(context, result);
    assertSame(id, result);
    return exitCodes.completed;
  } finally {
    await runtime.dispose();
  }
}

async function replay(
  runtime: PerdureRuntime,
  key: SessionKey,
  options: AgentOptions,
  settings: Settings,
  flags: SessionsReplayFlags,
): Promise<Replayed> {
  const { agentId } = await requireRecorded(runtime, key);
  if (options.id !== DEFAULT_AGENT && options.id !== agentId) {
    const reason = `the session belongs to the agent "${agentId}"`;
    throw new PerdureError('PERDURE_SESSION_CONFIGURATION', { field: 'agentId', reason });
  }
  const setups = await recordedSetups(runtime, key);
  const recorded = recordedModels(setups);
  const models = { ...recorded, ...options.models };
  const tenant = key.tenant === undefined ? {} : { tenant: key.tenant };
  const agent = runtime.agent({ model: Object.keys(recorded)[0] ?? '', ...options, id: agentId, ...tenant, models });
  const policies = flags.recordedRules === true ? recordedPolicies(setups) : [];
  const report = await agent.replay(key.id, governanceOf(runtime, settings, policies));
  const { store, facts } = runtime.services;
  const verify = flags.verify === true;
  const loaded = verify ? stateHash((await loadSession(store, sessionStream(key), facts)).state) : undefined;
  return { report, replayed: stateHash(report.state), loaded };
}

/**
 * What governed the runs of a session: one at a terminal had someone to ask, one in a pipe had nobody, a third waited
 * for answers, and its model could ask people; and some machines had a shell, and others none.
 */
function governanceOf(
  runtime: PerdureRuntime,
  { approvals: { mode: _, onExpiry = 'deny', ...expiry } }: Settings,
  policies: readonly PermissionPolicy[],
): readonly Governance[] {
  const asker: Asker = { ask: () => Promise.resolve('deny') };
  const waiting = approvalPolicy({ mode: 'ask', onExpiry, ...expiry });
  const sources = runtime.services.container.get(TOOLS);
  const without = (left: Plugin, all = sources) => all.filter(({ name }) => name !== left.name);
  const silent = { approval: undefined, toolSources: without(policyApproval) };
  const ways = [
    { toolSources: sources },
    { ...silent, asker: undefined },
    { ...silent, asker },
    { approval: waiting, toolSources: sources },
  ];
  const all = [...ways, ...policies.flatMap((permission) => ways.map((way) => ({ permission, ...way })))];
  return [...all, ...all.map((way) => ({ ...way, toolSources: without(toolsShell, way.toolSources) }))];
}

function assertSame(session: string, { report, replayed, loaded }: Replayed): void {
  const { difference, facts } = report;
  if (difference !== undefined) {
    const { revision, type, path } = difference;
    throw new PerdureError('PERDURE_REPLAY_DIFFERS', { session, revision, type, path });
  }
  if (loaded === undefined || loaded === replayed) return;
  throw new PerdureError('PERDURE_REPLAY_DIFFERS', { session, revision: facts - 1, type: 'state', path: 'stateHash' });
}

async function show(
  { screen: { out, outStyle }, json }: CliContext,
  { report, replayed, loaded }: Replayed,
): Promise<void> {
  const { session, facts, inputs, derived, drift, difference } = report;
  const isSame = difference === undefined && (loaded === undefined || loaded === replayed);
  if (json) {
    const verified = loaded === undefined ? {} : { stateHash: replayed, loadedStateHash: loaded };
    await out.line(jsonText({ session, facts, inputs, derived, drift, difference: difference ?? null, ...verified }));
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
    if (path === 'setup.policy' || path === 'setup')
      await out.line('  It ran under other rules: give the same --allow and --deny, or --recorded-rules for its own.');
    else if (path.startsWith('setup'))
      await out.line('  The agent is not configured as it was when this was recorded.');
  }
  if (loaded !== undefined && difference === undefined) await out.line(`state ${replayed}`);
  if (isSame) await out.line(outStyle.green('no difference'));
}
