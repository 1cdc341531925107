import type {
  AgentLimits,
  Asker,
  Gate,
  Hook,
  LanguageModel,
  PermissionPolicy,
  SystemBlockSource,
  Tools,
  ToolSource,
} from '@perdure/plugin-api';
import { isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';
import { bindTools, type ToolSet } from '../compose/tool-set.js';
import { gateSteps, policyOf, type GateStep } from '../invoke/gates.js';

/** What an agent is made of at a moment. */
export interface AgentParts {
  readonly agentId: string;
  readonly instruction: readonly string[];
  readonly models: ReadonlyMap<string, LanguageModel>;
  readonly defaultModel: string | undefined;
  readonly tools: Tools;
  readonly toolSources: readonly ToolSource[];
  readonly systemBlocks: readonly SystemBlockSource[];
  readonly gates: readonly Gate[];
  readonly hooks: readonly Hook[];
  readonly permission: PermissionPolicy | undefined;
  readonly asker: Asker | undefined;
  readonly streaming: boolean;
  readonly limits: Required<Omit<AgentLimits, 'maxOutputTokens'>> & { readonly maxOutputTokens: number | undefined };
}

/** Who decides about calls; a member that is absent is the agent's. */
export type Governance = Partial<Pick<AgentParts, 'permission' | 'asker'>>;

export interface NamedModel {
  readonly name: string;
  readonly model: LanguageModel;
}

/** An agent frozen: a step that runs keeps the view with which it began. What is worked out of the parts is kept. */
export class AgentView {
  private readonly toolSets = new Map<string | undefined, ToolSet>();
  /** The gates that every call passes, in their order. */
  readonly gates: readonly GateStep[];
  /** Their ids, as steps record them. */
  readonly gateIds: readonly string[];
  /** Digest of the gates and their rules. */
  readonly policy: string;

  constructor(readonly parts: AgentParts) {
    this.gates = gateSteps(parts);
    this.gateIds = this.gates.map(({ id }) => id);
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

  toolSet(workspace: string | undefined): ToolSet {
    let bound = this.toolSets.get(workspace);
    if (bound === undefined) {
      const sources = this.parts.toolSources.map((source) =>
        initialised(`tools of ${source.name}`, () => source.tools({ workspace })),
      );
      bound = bindTools([this.parts.tools, ...sources]);
      this.toolSets.set(workspace, bound);
    }
    return bound;
  }
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
