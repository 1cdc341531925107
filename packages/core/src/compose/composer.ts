import type { StepView } from '@perdure/events';
import type { AgentView, NamedModel } from '../host/agent-view.js';
import { digestOf } from '../host/sha256.js';
import type { ModelRequest } from '../invoke/model-invoker.js';
import type { SessionState } from '../session/session-state.js';
import { RequestHistory } from './request-history.js';
import { composeSystem, systemOf, type SystemPrompt } from './system-prompt.js';
import type { ToolSet } from './tool-set.js';

/** A step that is about to begin: what the model will be asked, and what of it is recorded. */
export interface ComposedStep {
  readonly model: NamedModel;
  readonly tools: ToolSet;
  readonly agent: AgentView;
  readonly view: StepView;
  readonly request: () => ModelRequest;
}

/**
 * From a state to a model request, for one session. It writes nothing and asks nobody: the same state and agent give the
 * same request. What it keeps from step to step can be made again from the state.
 */
export class Composer {
  private readonly history = new RequestHistory();
  private prompt:
    { readonly of: unknown; readonly workspace: string | undefined; readonly system: SystemPrompt } | undefined;

  constructor(private readonly sessionId: string) {}

  /** What the next step sees. `joining` are the transcript places of messages that it takes in. */
  compose(state: SessionState, agent: AgentView, joining: readonly number[]): ComposedStep {
    const model = agent.model(state.model);
    const tools = agent.toolSet(state.identity?.workspace);
    const system = this.system(state, agent);
    this.history.follow(state, joining);
    const { length: messages, digest } = this.history;
    const view: StepView = {
      model: { name: model.name, provider: model.model.provider, modelId: model.model.modelId },
      tools: {
        digest: tools.digest,
        // The names stand in the first step that has them; later steps refer to the digest.
        ...(state.lastStep?.view.tools.digest === tools.digest ? {} : { names: [...tools.names] }),
      },
      system: system.digest,
      prompt: digestOf(`${system.digest}\n${tools.digest}\n${digest}`),
      history: { messages, compactions: state.compactions, digest },
      gates: [...agent.gateIds],
      policy: agent.policy,
    };
    return { model, tools, agent, view, request: () => this.request(system, tools, agent) };
  }

  /** The system prompt in effect: frozen, or the agent's as it is now. */
  system(state: SessionState, agent: AgentView): SystemPrompt {
    const of = state.system ?? agent;
    const workspace = state.identity?.workspace;
    if (this.prompt?.of !== of || this.prompt.workspace !== workspace) {
      const system = state.system === undefined ? this.compile(agent, workspace) : systemOf(state.system);
      this.prompt = { of, workspace, system };
    }
    return this.prompt.system;
  }

  /** The agent's system prompt as it is now, frozen or not. */
  compile(agent: AgentView, workspace: string | undefined): SystemPrompt {
    const { agentId, instruction, systemBlocks } = agent.parts;
    return composeSystem(instruction, systemBlocks, { agentId, sessionId: this.sessionId, workspace });
  }

  private request(system: SystemPrompt, tools: ToolSet, agent: AgentView): ModelRequest {
    const messages = this.history.messages();
    if (system.text !== '') messages.unshift({ role: 'system', content: system.text });
    return { messages, tools: tools.forModel, maxOutputTokens: agent.parts.limits.maxOutputTokens };
  }
}
