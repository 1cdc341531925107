import type { EventDefinition, Upcaster } from '@perdure/events';
import type { ApprovalPolicy } from './ports/approval.js';
import type { ArtifactStore } from './ports/artifact-store.js';
import type { BudgetGuard } from './ports/budget.js';
import type { CliCommand, HttpRoute, Logger } from './ports/entry.js';
import type { AgentDefinitionSource } from './ports/delegation.js';
import type { EventStore } from './ports/event-store.js';
import type { Asker, Gate, PermissionPolicy } from './ports/governance.js';
import type { Hook } from './ports/hook.js';
import type { HostEnv } from './ports/host-env.js';
import type { McpServers, McpServerSource } from './ports/mcp.js';
import type { ModelSource } from './ports/model.js';
import type { NodePresence } from './ports/node-presence.js';
import type { ProjectionStore } from './ports/projection-store.js';
import type { Redactor } from './ports/redactor.js';
import type { Sandbox } from './ports/sandbox.js';
import type { Secrets } from './ports/secrets.js';
import type { SessionToolSource } from './ports/session-tools.js';
import type { SnapshotStore } from './ports/snapshot-store.js';
import type { SystemBlockSource } from './ports/system-block.js';
import type { ToolSource } from './ports/tool.js';
import type { WorkspaceEnv } from './ports/workspace-env.js';
import type { Workspaces } from './ports/workspace.js';
import type { AgentRegistry } from './session/agent.js';
import type { CommandSource } from './session/command.js';
import { manyToken, oneToken } from './token.js';

/** Facts of a plugin's own, and the upcasters of their older versions. */
export interface FactContribution {
  readonly events: readonly EventDefinition[];
  readonly upcasters?: readonly Upcaster[];
}

// Provided by the host.
/** Ids, time, chance and the node's name. */
export const HOST_ENV = oneToken<HostEnv>('host-env', 'runtime');
/** The agents of this runtime and through them its sessions. Usable from `start` on. */
export const AGENTS = oneToken<AgentRegistry>('agents', 'runtime');
/** Reports for operators. */
export const LOGGER = oneToken<Logger>('logger', 'runtime');
/** The registered secrets. */
export const SECRETS = oneToken<Secrets>('secrets', 'runtime');

// Stores.
/** Streams of facts. The only one that sessions cannot do without. */
export const EVENT_STORE = oneToken<EventStore>('event-store', 'runtime');
/** Large bytes. */
export const ARTIFACT_STORE = oneToken<ArtifactStore>('artifact-store', 'runtime');
/** Rows of projections, and state snapshots. */
export const PROJECTION_STORE = oneToken<ProjectionStore>('projection-store', 'runtime');
/** Sessions in their exchange form. */
export const SNAPSHOT_STORE = oneToken<SnapshotStore>('snapshot-store', 'runtime');
/** Which nodes of this machine live. */
export const NODE_PRESENCE = oneToken<NodePresence>('node-presence', 'runtime');

// What agents are made of.
/** Models under names. */
export const MODELS = manyToken<ModelSource>('models', 'agent');
/** Tools. */
export const TOOLS = manyToken<ToolSource>('tools', 'agent');
/** Tools that come and go while sessions run. */
export const SESSION_TOOLS = manyToken<SessionToolSource>('session-tools', 'agent');
/** MCP servers of sessions. */
export const MCP_SERVERS = oneToken<McpServers>('mcp-servers', 'agent');
/** MCP servers that plugin packages bring. */
export const MCP_SERVER_SOURCES = manyToken<McpServerSource>('mcp-server-sources', 'runtime');
/** Agents that work can be handed to. */
export const AGENT_DEFINITIONS = manyToken<AgentDefinitionSource>('agent-definitions', 'agent');
/** Workspace folders. */
export const WORKSPACES = oneToken<Workspaces>('workspaces', 'runtime');
/** Variables that belong to workspaces. */
export const WORKSPACE_ENV = oneToken<WorkspaceEnv>('workspace-env', 'runtime');
/** Closes in the commands that tools run. */
export const SANDBOX = oneToken<Sandbox>('sandbox', 'runtime');
/** Text of the system prompt. */
export const SYSTEM_BLOCKS = manyToken<SystemBlockSource>('system-blocks', 'agent');

/** Slash commands. */
export const COMMANDS = manyToken<CommandSource>('commands', 'agent');

// Governance.
/** Rules that allow, deny or leave calls open. Without one, every call of a model is left open. */
export const PERMISSION = oneToken<PermissionPolicy>('permission', 'runtime');
/** What happens to calls that are left open: with one, people answer from anywhere. */
export const APPROVAL = oneToken<ApprovalPolicy>('approval', 'runtime');
/** Someone of this process to ask about calls that are left open, without approval. Without both they are denied. */
export const ASKER = oneToken<Asker>('asker', 'runtime');
/** What may be spent. All of them are asked, beside the guard that the host gives an agent or a session. */
export const BUDGET_GUARDS = manyToken<BudgetGuard>('budget-guards', 'agent');
/** Further checks of every call. */
export const GATES = manyToken<Gate>('gates', 'agent');
/** The host's own code at fixed points. */
export const HOOKS = manyToken<Hook>('hooks', 'agent');
/** What must not be kept or shown. */
export const REDACTORS = manyToken<Redactor>('redactors', 'runtime');

// Surfaces.
/** Facts of plugins. */
export const FACTS = manyToken<FactContribution>('facts', 'runtime');
/** Routes of the HTTP server. */
export const HTTP_ROUTES = manyToken<HttpRoute>('http-routes', 'runtime');
/** Commands of the `perdure` binary. */
export const CLI_COMMANDS = manyToken<CliCommand>('cli-commands', 'runtime');
