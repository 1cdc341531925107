import type { AgentOptions } from '@perdure/plugin-api';
import type { PluginLike } from '@perdure/plugin-api';
import type { ApprovalOptions, McpOptions, PermissionRules, RedactionOptions, ShellOptions } from '@perdure/runtime';

/** What `perdure.config.ts`, `.mjs` or `.json` says. In JSON there are no instances, tools or secrets. */
export interface PerdureConfig {
  readonly agent?: AgentConfig;
  /** Further plugins: objects, or names of packages that are installed beside the file. */
  readonly plugins?: readonly PluginLike[];
  /** Rules for tool calls. Lists that are given replace those of the default policy. */
  readonly permissions?: PermissionRules;
  /** How commands are run; see `@perdure/tools-shell`. In the sandbox where there is one, when absent. */
  readonly shell?: ShellOptions;
  /** MCP servers whose tools the agent has; see `@perdure/mcp-client`. */
  readonly mcp?: McpOptions;
  /** What counts as a credential beside registered secrets; see `@perdure/security-redaction`. `off`: nothing. */
  readonly redaction?: RedactionOptions | 'off';
  /** What becomes of calls that the rules leave open. */
  readonly approvals?: ApprovalsConfig;
  /** Values that models, facts, streams and logs must never see, by the name they are referred to by. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** `path` is the database file of the sessions, taken from the folder of the configuration. */
  readonly store?: { readonly path?: string };
  /** An OpenAI-compatible endpoint, for an agent without a model of its own. */
  readonly baseUrl?: string;
  readonly modelId?: string;
  /** The environment variable with the endpoint's key; `PERDURE_API_KEY` when absent. */
  readonly apiKeyEnv?: string;
}

/**
 * `ask`: the person at the terminal is asked; without one, the call is denied. `wait`: the turn waits until somebody
 * answers from any process. `deny`: the call is denied.
 */
export type ApprovalMode = 'ask' | 'wait' | 'deny';

/** The `mode` is `ask` when absent. A request that waits expires only when `expiresInMs` is given. */
export interface ApprovalsConfig extends Pick<ApprovalOptions, 'expiresInMs' | 'onExpiry'> {
  readonly mode?: ApprovalMode;
}

/** The agent. Its `id` is `perdure` when absent; sessions belong to the agent that made them. */
export type AgentConfig = Partial<
  Pick<
    AgentOptions,
    'id' | 'model' | 'models' | 'instruction' | 'tools' | 'limits' | 'context' | 'streaming' | 'files' | 'titles'
  >
>;

/** Returns its argument: it gives a configuration file types. */
export function defineConfig(config: PerdureConfig): PerdureConfig {
  return config;
}
