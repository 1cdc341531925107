import type { ActivePlugin } from '@perdure/events';
import type { SessionScope } from '@perdure/plugin-api';
import type { KnownState } from '../session/session-state.js';
import type { SessionConfig } from './session-options.js';
import type { AgentView } from './agent-view.js';
import type { HomeGround } from './home-ground.js';
import type { SessionAdditions } from './session-additions.js';
import { withSessionTools } from './session-tools.js';

/** The agent as one session of this process has it. */
export class HomeAgent {
  constructor(
    private readonly ground: HomeGround,
    private readonly config: SessionConfig,
    private readonly additions: SessionAdditions,
    /** The session's state; what it was when it was loaded last; absent when it never was. */
    private readonly state: () => KnownState | undefined,
  ) {}

  /** With the plugins that the session has, and what is the session's own. */
  current(): AgentView {
    return this.with(this.state()?.plugins);
  }

  with(plugins: readonly ActivePlugin[] | undefined): AgentView {
    return withSessionTools(this.shared(plugins), this.scope());
  }

  scope(): SessionScope {
    const identity = this.state()?.identity;
    const { key, parent, workspace } = this.config;
    return {
      agentId: this.ground.agentId,
      sessionId: key.id,
      tenant: key.tenant ?? null,
      parent: (identity === undefined ? parent : identity.parent) ?? null,
      workspace: identity === undefined ? workspace : identity.workspace,
    };
  }

  /** Without the tools that are the session's own: what those that it hands work to have too. */
  private shared(plugins: readonly ActivePlugin[] | undefined): AgentView {
    return this.additions.view(this.delegator()?.shared(plugins) ?? this.ground.view(plugins));
  }

  /** That of the session in this process that handed its work to this one: what a host added there holds here. */
  private delegator(): HomeAgent | undefined {
    const identity = this.state()?.identity;
    const isChild = (identity?.delegation ?? this.config.child) !== undefined;
    const id = isChild ? (identity?.parent ?? this.config.parent) : undefined;
    return id === undefined ? undefined : this.ground.find({ ...this.config.key, id })?.agents;
  }
}
