import { PerdureError, type DrainReport, type Placement } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { agentOptions } from '../config/agent-options.js';
import type { ModelFlags } from '../config/model-endpoint.js';
import { resolveSettings, type PlaceFlags, type RuleFlags, type Settings } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { approvalWay, type ApprovalWay } from '../runtime/approval-way.js';
import { openRuntime } from '../runtime/open-runtime.js';
import { requireSandbox } from '../runtime/require-sandbox.js';
import { warnOfStoreInside } from '../runtime/store-place.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { ProcessSignals } from '../turn/process-signals.js';

export interface NodeRunFlags extends PlaceFlags, RuleFlags, ModelFlags {
  readonly name?: string;
  readonly capacity?: string;
  readonly grace?: string;
}

/**
 * `perdure node run`: a process with the configured agent that goes on with whatever session of the store has work and
 * no owner that lives. It ends, drained, with SIGTERM, Ctrl-C, or when an operator asks for it.
 */
export async function nodeRun(context: CliContext, flags: NodeRunFlags): Promise<number> {
  const { screen, logger, json } = context;
  const graceMs = graceOf(flags.grace);
  const placement = placementOf(flags);
  const settings = await resolveSettings(flags);
  await warnOfStoreInside(settings, context);
  const approvals = await nodeApprovals(settings, context);
  const { name } = flags;
  const runtime = await openRuntime(settings, logger, {
    ...(approvals === undefined ? {} : { approvals }),
    node: { placement, ...(name === undefined ? {} : { name }) },
  });
  const drain = (): void => void runtime.drain({ graceMs, reason: 'the node ends' }).catch(() => undefined);
  const signals = new ProcessSignals({ stop: drain, suspend: drain });
  try {
    await requireSandbox(settings, runtime);
    const agent = runtime.agent(agentOptions(settings, flags, context.environment, true));
    await agent.ready();
    await runtime.join();
    const node = runtime.services.env.nodeId;
    if (json) await screen.out.line(jsonText({ node, agent: agent.id, pid: process.pid }));
    else await screen.note(`the node ${visible(node)} looks after sessions of the agent ${visible(agent.id)}`);
    const report = await drainedAlive(runtime.drained);
    if (json) await screen.out.line(jsonText({ node, drained: report }));
    else await screen.note(`drained: ${report.handedOver} handed over, ${report.cut} cut, ${report.idle} idle`);
    return exitCodes.completed;
  } finally {
    await runtime.dispose();
    signals.dispose();
  }
}

/** Nobody sits at a node: what is to be asked waits for an answer from anywhere, unless it is denied. */
async function nodeApprovals(settings: Settings, context: CliContext): Promise<ApprovalWay['approvals']> {
  if (settings.approvalsFlag === 'ask') {
    throw new PerdureError('PERDURE_CONFIGURATION', { field: '--approvals', reason: 'nobody sits at a node' });
  }
  const mode = settings.approvals.mode === 'deny' ? 'deny' : 'wait';
  return (await approvalWay({ ...settings, approvals: { ...settings.approvals, mode } }, context)).approvals;
}

/** The process lives until it is drained, whatever else would keep it. */
async function drainedAlive(drained: Promise<DrainReport>): Promise<DrainReport> {
  const heart = setInterval(() => undefined, 60_000);
  try {
    return await drained;
  } finally {
    clearInterval(heart);
  }
}

function placementOf({ capacity }: NodeRunFlags): Placement {
  if (capacity === undefined) return {};
  return { capacity: numberOf('--capacity', capacity, 1) };
}

/** The milliseconds of `--grace`. Throws PERDURE_CONFIGURATION. */
export function graceOf(grace: string | undefined): number {
  return grace === undefined ? 30_000 : numberOf('--grace', grace, 0) * 1_000;
}

function numberOf(field: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= least) return value;
  throw new PerdureError('PERDURE_CONFIGURATION', { field, reason: `it is a whole number from ${least} on` });
}
