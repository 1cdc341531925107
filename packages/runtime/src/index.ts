export { createRuntime } from './create-runtime.js';
export { defaultPlugins } from './default-plugins.js';
export { includesPlugin } from './includes-plugin.js';
export { providedTokens } from './provided-tokens.js';
export type { RuntimeOptions } from './runtime-options.js';

// What a host uses of a runtime.
export { outcomeHash, parseAnchor, stateHash, takeAnchor, verifySession } from '@perdure/core';
export type {
  Anchor,
  Governance,
  PerdureRuntime,
  ReplayDifference,
  ReplayReport,
  RuntimeAgent,
  VerifiedChain,
} from '@perdure/core';
export {
  deterministicHostEnv,
  FixedClock,
  isPerdureError,
  PerdureError,
  seededRandom,
  SequentialIdGenerator,
} from '@perdure/plugin-api';
export type {
  Agent,
  AgentDefinition,
  AgentLimits,
  AgentOptions,
  Clock,
  CommandContext,
  CommandHandler,
  CommandInfo,
  DeterministicHostEnv,
  ErrorCode,
  HostEnv,
  IdGenerator,
  LanguageModel,
  Message,
  Mutation,
  PromptInput,
  PromptLike,
  ResumeOptions,
  RunEvent,
  RunEventPage,
  RunSnapshot,
  Session,
  SessionInfo,
  SessionOptions,
  SessionRetentionLimits,
  SessionSummary,
  Settlement,
  StopResult,
  Tool,
  ToolContext,
  ToolOutcome,
  Tools,
  TurnHandle,
  TurnResult,
  TurnStream,
} from '@perdure/plugin-api';

// What a host writes plugins of its own with.
export {
  APPROVAL,
  ASKER,
  COMMANDS,
  definePlugin,
  EVENT_STORE,
  GATES,
  HOOKS,
  LOGGER,
  MODELS,
  PERMISSION,
  REDACTORS,
  SANDBOX,
  SYSTEM_BLOCKS,
  TOOLS,
} from '@perdure/plugin-api';
export type { Logger, Plugin, PluginLike, SlashCommand } from '@perdure/plugin-api';

// The default plugins and their neighbours, to configure or to use alone.
export { checkMcpServer, inspectServer, mcpClient } from '@perdure/mcp-client';
export type { McpOptions } from '@perdure/mcp-client';
export { modelOpenAiCompatible, openAiCompatibleModel } from '@perdure/model-openai-compatible';
export type { OpenAiCompatibleModelOptions } from '@perdure/model-openai-compatible';
export { approvalPolicy, policyApproval } from '@perdure/policy-approval';
export type { ApprovalOptions } from '@perdure/policy-approval';
export { policyBudget, readBudget, setBudget } from '@perdure/policy-budget';
export type { BudgetReport, BudgetSetting, Prices } from '@perdure/policy-budget';
export { securityRedaction } from '@perdure/security-redaction';
export type { RedactionOptions } from '@perdure/security-redaction';
export { createPermissionPolicy, parseRule, policyPermission } from '@perdure/policy-permission';
export type { PermissionRules } from '@perdure/policy-permission';
export { createBubblewrapSandbox, sandboxBubblewrap } from '@perdure/sandbox-bubblewrap';
export { storeMemory } from '@perdure/store-memory';
export { defaultDriver, defaultPath as defaultStorePath, openSqliteStores, storeSqlite } from '@perdure/store-sqlite';
export type { SqliteStores, SqliteStoresOptions } from '@perdure/store-sqlite';
export { toolsArtifacts } from '@perdure/tools-artifacts';
export { builtInAgents, toolsDelegate } from '@perdure/tools-delegate';
export { fileTools, toolsFiles } from '@perdure/tools-files';
export { toolsShell } from '@perdure/tools-shell';
export type { ShellOptions } from '@perdure/tools-shell';
