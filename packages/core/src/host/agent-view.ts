import type { ActivePlugin, ApprovalMode } from '@perdure/events';
import type {
  AgentDefinition,
  AgentDefinitionSource,
  AgentLimits,
  ApprovalPolicy,
  Asker,
  BudgetGuard,
  CommandSource,
  Gate,
  Hook,
  HookEvent,
  LanguageModel,
  McpServers,
  PermissionPolicy,
  SessionToolSource,
  SystemBlockSource,
  Tools,
  ToolSource,
} from '@perdure/plugin-api';
import { isHookEvent, isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';
import type { ContextLimits } from '../compose/compaction-plan.js';
import { bindTools, type ToolSet } from '../compose/tool-set.js';
import type { ResolvedFileOptions } from '../files/file-options.js';
import { inOrder } from '../hooks/run-hooks.js';
import { budgetGuards } from '../invoke/budget.js';
import { refuseLater } from '../invoke/refuse-later.js';
import type { CallLanes } from '../invoke/call-lanes.js';
import type { CallGovernance } from '../invoke/decide-call.js';
import { gateSteps, policyOf } from '../invoke/gates/gate-list.js';
import type { GateStep } from '../invoke/gates/gate-step.js';

/** What an agent is made of at a moment. */
export interface AgentParts {
  readonly agentId: string;
  readonly instruction: readonly string[];
  readonly models: ReadonlyMap<string, LanguageModel>;
  readonly defaultModel: string | undefined;
  readonly tools: Tools;
  readonly toolSources: readonly ToolSource[];
  readonly sessionTools: readonly SessionToolSource[];
  readonly mcpServers: McpServers | undefined;
  readonly systemBlocks: readonly SystemBlockSource[];
  readonly gates: readonly Gate[];
  readonly hooks: readonly Hook[];
  readonly commandSources: readonly CommandSource[];
  readonly permission: PermissionPolicy | undefined;
  readonly asker: Asker | undefined;
  readonly approval: ApprovalPolicy | undefined;
  /** The host's own, of the agent or of a session. */
  readonly budgetGuard: BudgetGuard | undefined;
  readonly pluginGuards: readonly BudgetGuard[];
  readonly streaming: boolean;
  /** Whether it may use only tools that read. */
  readonly readOnly: boolean;
  /** Whether models are shown what comes from outside between marks. */
  readonly marksExternal: boolean;
  readonly lanes: CallLanes;
  readonly files: ResolvedFileOptions;
  readonly context: AgentContext;
  /** The session's approval mode is this one or a stricter one. */
  readonly approvalCap?: ApprovalMode;
  readonly definitionSources: readonly AgentDefinitionSource[];
  /** Absent when no model is asked for titles. */
  readonly titles?: TitleSource | undefined;
  /** Those of the runtime, and the agent's own. */
  readonly plugins: readonly ActivePlugin[];
  /** Keeps the agent's own plugins from being stopped until the function that it returns is called. */
  readonly hold: () => () => void;
  readonly limits: Required<Omit<AgentLimits, Unlimited>> & { readonly [Key in Unlimited]: number | undefined };
}

/** How long the requests of an agent may get. */
export interface AgentContext {
  /** What the host says of a model's window. */
  readonly windowOf: (model: string) => number | undefined;
  readonly compactAt: number;
}

/** Which model gives sessions their titles, and whether also those that work for others. */
export interface TitleSource {
  /** The session's own when absent. */
  readonly model: string | undefined;
  readonly children: boolean;
}

/** Limits that there may be none of. */
type Unlimited = 'maxOutputTokens' | 'maxTurnMs';

/** Who decides about calls at another time, and what can be called; a member that is absent is the agent's. */
export type Governance = Partial<Pick<AgentParts, 'permission' | 'asker' | 'approval' | 'toolSources'>>;

/** The window of a model of which nobody says how long its requests may be. */
const DEFAULT_WINDOW = 200_000;

export interface NamedModel {
  readonly name: string;
  readonly model: LanguageModel;
}

/** An agent frozen: a step that runs keeps the view with which it began. What is worked out of the parts is kept. */
export class AgentView {
  private readonly toolSets = new Map<string | undefined, ToolSet>();
  private readonly hooks = new Map<HookEvent, readonly Hook[]>();
  /** The gates that every call passes, in their order. */
  readonly gates: readonly GateStep[];
  /** Their ids, and those of the hooks that they ask, as steps record them. */
  readonly gateIds: readonly string[];
  /** Who has a say about what may be spent, in the order in which they are asked. */
  readonly budgetGuards: readonly BudgetGuard[];
  /** Digest of the gates and their rules. */
  readonly policy: string;

  constructor(readonly parts: AgentParts) {
    this.budgetGuards = budgetGuards(parts);
    this.gates = gateSteps(parts);
    this.gateIds = [...this.gates.map(({ id }) => id), ...parts.hooks.filter(isOfGate).map(hookId)];
    this.policy = policyOf(this.gates);
  }

  /** The model of a session: its own, else the agent's. Throws PERDURE_MODEL_MISSING or PERDURE_MODEL_UNKNOWN. */
  model(sessionModel: string | undefined): NamedModel {
    const { agentId, defaultModel, models } = this.parts;
    const name = sessionModel ?? defaultModel;
    if (name === undefined) throw new PerdureError('PERDURE_MODEL_MISSING', { agent: agentId });
    const model = models.get(name);
    if (model === undefined) throw new PerdureError('PERDURE_MODEL_UNKNOWN', { agent: agentId, model: name });
    return { name, model };
  }

  /** How long requests to a model may get: as the host says, else as the model itself does. */
  contextLimits({ name, model }: NamedModel): ContextLimits {
    const { context, limits } = this.parts;
    const { contextWindow: told }: { readonly contextWindow?: unknown } = model;
    const own = Number.isSafeInteger(told) && (told as number) > 0 ? (told as number) : DEFAULT_WINDOW;
    const { compactAt } = context;
    return { window: context.windowOf(name) ?? own, compactAt, maxOutputTokens: limits.maxOutputTokens };
  }

  /** What decides about the calls of a session. */
  governance(workspace: string | undefined, isTrusted = false): CallGovernance {
    return { gates: this.gates, tools: this.toolSet(workspace), isTrusted, within: [] };
  }

  /** The same agent with the hooks that a step recorded and that are not here. They have names and no code. */
  withRecordedHooks(gateIds: readonly string[]): AgentView {
    const known = new Set(this.gateIds);
    const hooks = gateIds.flatMap((gateId) => {
      const at = gateId.indexOf(':');
      const event = gateId.slice(0, Math.max(at, 0));
      return !known.has(gateId) && isHookEvent(event) ? [{ id: gateId.slice(at + 1), event }] : [];
    });
    return hooks.length === 0 ? this : new AgentView({ ...this.parts, hooks: [...this.parts.hooks, ...hooks] });
  }

  /** The agents that work can be handed to. */
  get definitions(): readonly AgentDefinition[] {
    return this.parts.definitionSources.flatMap(({ definitions }) => definitions);
  }

  get hasHooks(): boolean {
    return this.parts.hooks.length > 0;
  }

  /** The hooks of a point, in the order in which they run. */
  hooksAt(event: HookEvent): readonly Hook[] {
    let hooks = this.hooks.get(event);
    if (hooks === undefined) {
      hooks = inOrder(this.parts.hooks.filter((hook) => hook.event === event));
      this.hooks.set(event, hooks);
    }
    return hooks;
  }

  toolSet(workspace: string | undefined): ToolSet {
    let bound = this.toolSets.get(workspace);
    if (bound === undefined) {
      const sources = this.parts.toolSources.map((source) =>
        initialised(`tools of ${source.name}`, () => checkTools(source.tools({ workspace }))),
      );
      bound = bindTools([this.parts.tools, ...sources]);
      this.toolSets.set(workspace, bound);
    }
    return bound;
  }
}

function checkTools(tools: Tools): Tools {
  const checked: unknown = refuseLater(tools);
  if (typeof checked !== 'object' || checked === null) throw new TypeError('it gave no record of tools');
  return tools;
}

function isOfGate({ event }: Hook): boolean {
  return event === 'pre_tool_use' || event === 'permission_request';
}

/** How a step records a hook that may decide about its calls. */
function hookId({ event, id }: Hook): string {
  return `${event}:${id}`;
}

/** What a plugin makes for a session, or PERDURE_SESSION_INITIALIZATION with the name of what could not be made. */
export function initialised<Result>(resource: string, make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    if (isPerdureError(error)) throw error;
    throw new PerdureError('PERDURE_SESSION_INITIALIZATION', { resource, reason: reasonOf(error) }, { cause: error });
  }
}
