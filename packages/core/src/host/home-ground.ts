import type { ActivePlugin, SessionKey } from '@perdure/events';
import type { SessionRetentionLimits } from '@perdure/plugin-api';
import type { ChildGround } from '../children/child-ground.js';
import type { AgentView } from './agent-view.js';
import type { HostServices } from './host-services.js';
import type { RegisteredHome } from './registered-home.js';

/** What a home needs of the agent that its session belongs to. */
export interface HomeGround {
  readonly services: HostServices;
  readonly agentId: string;
  readonly retention: SessionRetentionLimits;
  /** The agent with these plugins of its own, where they still run, else as it is now. */
  readonly view: (plugins: readonly ActivePlugin[] | undefined) => AgentView;
  /** The variables of the agent's sessions of a workspace. */
  readonly env: (workspace: string | undefined) => Readonly<Record<string, string>>;
  readonly children: ChildGround;
  readonly find: (key: SessionKey) => RegisteredHome | undefined;
}
