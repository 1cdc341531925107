import type { CompactionReason, StepSetup, StepView } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import type { AgentView, NamedModel } from '../host/agent-view.js';
import { digestOf } from '../host/sha256.js';
import type { ModelMessage } from '../invoke/language-model.js';
import type { ModelRequest } from '../invoke/model-invoker.js';
import { canonicalJson } from '../session/canonical-json.js';
import type { SessionIdentity, SessionState } from '../session/session-state.js';
import { effectiveVariables, type SessionVariables } from '../session/variables.js';
import { decideCompaction, type DecidedCompaction } from './compaction-planner.js';
import { estimateTokens } from './message-size.js';
import type { Redaction } from '../secrets/redaction.js';
import { RequestHistory } from './request-history.js';
import { composeSystem, systemOf, type ReportSource, type SystemPrompt } from './system-prompt.js';
import type { ToolSet } from './tool-set.js';

/** A step that is about to begin: what the model will be asked, and what of it is recorded. */
export interface ComposedStep {
  readonly model: NamedModel;
  readonly tools: ToolSet;
  readonly agent: AgentView;
  readonly view: StepView;
  /** What the step is made with, when the step before was made with something else. */
  readonly setup: StepSetup | undefined;
  readonly request: () => ModelRequest;
  /** Of the whole request. */
  readonly estimatedTokens: number;
}

interface MadeWith {
  readonly agent: AgentView;
  readonly model: NamedModel;
  readonly system: SystemPrompt;
  readonly env: SessionVariables;
  readonly setup: StepSetup;
  readonly digest: string;
}

/**
 * From a state to a model request, for one session. It writes nothing and asks nobody: the same state and agent give
 * the same request. What it keeps from step to step can be made again from the state.
 */
export class Composer {
  private readonly history = new RequestHistory();
  private prompt:
    { readonly of: unknown; readonly identity: SessionIdentity | undefined; readonly system: SystemPrompt } | undefined;
  private madeWith: MadeWith | undefined;

  constructor(
    private readonly sessionId: string,
    private readonly redaction: Redaction,
    /** Told of sources of system blocks that are left out. */
    private readonly report: ReportSource = () => undefined,
  ) {}

  /** What the next step sees. `joining` are the transcript places of messages that it takes in. */
  compose(state: SessionState, agent: AgentView, joining: readonly number[]): ComposedStep {
    const model = agent.model(state.model);
    const tools = agent.toolSet(state.identity?.workspace);
    const system = this.system(state, agent);
    const { setup, digest: setupDigest } = this.setup(agent, model, tools, system, state.env);
    this.history.follow(state, joining, agent.parts.marksExternal);
    const { length: messages, digest } = this.history;
    const view: StepView = {
      setup: setupDigest,
      prompt: digestOf(`${system.digest}\n${tools.digest}\n${digest}`),
      history: { messages, compactions: state.compactions, digest },
    };
    const isSame = state.lastStep?.view.setup === setupDigest;
    return {
      model,
      tools,
      agent,
      view,
      setup: isSame ? undefined : setup,
      request: () => this.request(system, tools, agent),
      estimatedTokens: estimateTokens(this.history.characters + system.text.length + tools.characters),
    };
  }

  /**
   * How the conversation is made shorter before the next model call; `undefined` when it need not be, or cannot. What a
   * request cannot be put together from is no reason: the step will say so. `joining` is as for `compose`; `told` is
   * the size of the request in tokens, where a record tells it.
   */
  planCompaction(
    state: SessionState,
    agent: AgentView,
    joining: readonly number[],
    reason: CompactionReason,
    told?: number,
  ): DecidedCompaction | undefined {
    try {
      const limits = agent.contextLimits(agent.model(state.model));
      const frame = this.system(state, agent).text.length + agent.toolSet(state.identity?.workspace).characters;
      this.history.follow(state, joining);
      return decideCompaction({ state, history: this.history, frame, limits }, reason, told);
    } catch (error) {
      if (!isPerdureError(error)) throw error;
      return undefined;
    }
  }

  /** The system prompt in effect: frozen, or the agent's as it is now. */
  system(state: SessionState, agent: AgentView): SystemPrompt {
    const of = state.system ?? agent;
    const { identity } = state;
    if (this.prompt?.of !== of || this.prompt.identity !== identity) {
      const system = state.system === undefined ? this.compile(agent, identity) : systemOf(state.system);
      this.prompt = { of, identity, system };
    }
    return this.prompt.system;
  }

  /** The agent's system prompt as it is now, frozen or not. */
  compile(agent: AgentView, identity: SessionIdentity | undefined): SystemPrompt {
    const { agentId, instruction, systemBlocks } = agent.parts;
    const { workspace, createdAt } = identity ?? {};
    const session = { agentId, sessionId: this.sessionId, workspace, createdAt };
    return composeSystem(instruction, systemBlocks, session, this.redaction, this.report);
  }

  private setup(
    agent: AgentView,
    model: NamedModel,
    tools: ToolSet,
    system: SystemPrompt,
    env: SessionVariables,
  ): MadeWith {
    const known = this.madeWith;
    const isKnown = known?.agent === agent && known.system === system && known.env === env;
    if (isKnown && known.model.name === model.name) return known;
    const variables = effectiveVariables(env);
    const { provider, modelId } = model.model;
    const rules = agent.parts.permission?.rules;
    const { window, compactAt } = agent.contextLimits(model);
    const setup: StepSetup = {
      model: { name: model.name, provider, modelId },
      tools: { digest: tools.digest, names: [...tools.names] },
      system: system.digest,
      gates: [...agent.gateIds],
      policy: agent.policy,
      ...(rules === undefined ? {} : { rules }),
      context: { window, compactAt },
      ...(variables.length === 0 ? {} : { env: [...variables] }),
    };
    this.madeWith = { agent, model, system, env, setup, digest: digestOf(canonicalJson(setup)) };
    return this.madeWith;
  }

  private request(system: SystemPrompt, tools: ToolSet, agent: AgentView): ModelRequest {
    const first: ModelMessage[] = system.text === '' ? [] : [{ role: 'system', content: system.text }];
    const { maxOutputTokens } = agent.parts.limits;
    const { hasFiles } = this.history;
    return { messages: this.history.messages(first), hasFiles, tools: tools.forModel, maxOutputTokens };
  }
}
