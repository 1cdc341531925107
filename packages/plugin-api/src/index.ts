export { deterministicHostEnv, FixedClock, seededRandom, SequentialIdGenerator } from './deterministic-host-env.js';
export type { DeterministicHostEnv } from './deterministic-host-env.js';
export { errorTable } from './errors/table.js';
export type { ErrorCode, ErrorEntry, ErrorKind } from './errors/table.js';
export { cutText } from './errors/cut-text.js';
export { errorMessage, isPerdureError, PerdureError, reasonOf } from './errors/perdure-error.js';
export type { ErrorData } from './errors/perdure-error.js';
export { definePlugin, PLUGIN_API } from './plugin.js';
export type { Plugin, PluginChoice, PluginContext, PluginLife, PluginLike } from './plugin.js';
export type { ApprovalPolicy } from './ports/approval.js';
export type {
  AgentDefinition,
  AgentDefinitionSource,
  ChildLimits,
  ChildReport,
  ChildTask,
  ScopedChildren,
} from './ports/delegation.js';
export type { ArtifactStore, ByteRange } from './ports/artifact-store.js';
export type {
  BudgetDecision,
  BudgetGuard,
  BudgetSubject,
  LlmBudgetContext,
  LlmCallContext,
  LlmReleaseContext,
  LlmUsageContext,
  ToolBudgetContext,
} from './ports/budget.js';
export type { CliCommand, CliStreams, HttpRoute, Logger } from './ports/entry.js';
export type {
  AppendOptions,
  AppendResult,
  EventStore,
  EventStoreCapabilities,
  EventStoreLimits,
  ExpectedRevision,
  FactBatch,
  NewFact,
  ReadOptions,
  ReadPage,
  StoreSource,
  StreamSource,
  SubscribeOptions,
} from './ports/event-store.js';
export type {
  Asker,
  Gate,
  GateAnswer,
  GateStage,
  PermissionDecision,
  PermissionPolicy,
  RuleGate,
  ToolCallRequest,
  WaitingGate,
} from './ports/governance.js';
export { defineHook, hookPoints, isHookEvent } from './ports/hook.js';
export type {
  Hook,
  HookConfig,
  HookEvent,
  HookHandler,
  HookMatcher,
  HookOccurrence,
  HookPayloads,
  HookResult,
  HookSubject,
} from './ports/hook.js';
export type { Clock, HostEnv, IdGenerator } from './ports/host-env.js';
export type {
  McpHttpSetting,
  McpServerOptions,
  McpServers,
  McpServerSetting,
  McpServerSource,
  McpServerStatus,
  McpStdioSetting,
} from './ports/mcp.js';
export type { LanguageModel, ModelSource } from './ports/model.js';
export type { NodePresence } from './ports/node-presence.js';
export type {
  ProjectionChange,
  ProjectionCommit,
  ProjectionRow,
  ProjectionStore,
  RowOptions,
} from './ports/projection-store.js';
export type { Finding, Redactor } from './ports/redactor.js';
export type { AskOptions, AskOutcome, QuestionSet } from './ports/question-set.js';
export type {
  Sandbox,
  SandboxCommand,
  SandboxedProcess,
  SandboxExit,
  SandboxIssue,
  SandboxLimits,
  SandboxReport,
} from './ports/sandbox.js';
export type { Secrets } from './ports/secrets.js';
export type { SessionScope, SessionToolSource } from './ports/session-tools.js';
export type { SnapshotStore } from './ports/snapshot-store.js';
export type { SystemBlockContext, SystemBlockSource } from './ports/system-block.js';
export { noCalls } from './ports/tool.js';
export { filesOf, isTextType, READ_ARTIFACT, withFiles } from './ports/tool-file.js';
export type { NewFile, SessionArtifacts, ToolFile } from './ports/tool-file.js';
export type { Reconciliation, ScopedInvoker, Tool, ToolContext, ToolFailure, Tools, ToolSource } from './ports/tool.js';
export type { WorkspaceEnv } from './ports/workspace-env.js';
export type { Workspaces } from './ports/workspace.js';
export type {
  Agent,
  AgentLimits,
  AgentOptions,
  AgentRegistry,
  ContextOptions,
  LaneOptions,
  Runtime,
  SessionOptions,
  TitleOptions,
} from './session/agent.js';
export type {
  EraseOptions,
  Erasure,
  ForkOptions,
  FoundSession,
  ListOptions,
  SearchOptions,
  SearchPage,
  SessionPage,
  Sessions,
  SessionSummary,
  SessionTree,
  TitleBy,
} from './session/sessions.js';
export type {
  Attachment,
  BytesAttachment,
  FileOptions,
  KnownAttachment,
  PathAttachment,
} from './session/attachment.js';
export type {
  BudgetThresholdEvent,
  ClusterEvent,
  PassivationEvent,
  PeerInvocationEvent,
} from './session/cluster-event.js';
export type { CommandContext, CommandHandler, CommandInfo, CommandSource, SlashCommand } from './session/command.js';
export type {
  ApprovalInteraction,
  ApprovalResponse,
  DeclineResponse,
  Interaction,
  InteractionResponse,
  QuestionInteraction,
  QuestionResponse,
} from './session/interaction.js';
export type { AssistantMessage, Message, ToolMessage, ToolResultPart, UserMessage } from './session/message.js';
export type {
  ActionMutation,
  ActionName,
  DeltaMutation,
  ErrorMutation,
  MessageMutation,
  Mutation,
  PartContent,
  PartMutation,
  SessionMutation,
  TaskMutation,
  TitleMutation,
  MutationOptions,
  ToolPartState,
  TurnMutation,
} from './session/mutation.js';
export { applyMutation, conversationView } from './session/conversation-view.js';
export type { ConversationView, GrowingAnswer, GrowingPart } from './session/conversation-view.js';
export type { ObjectMessage, ObjectRequest, ObjectResult } from './session/object.js';
export type {
  ActiveTool,
  RunEvent,
  RunEventPage,
  RunEventPageOptions,
  RunRecordStatus,
  RunSnapshot,
  SessionRetentionLimits,
  SettleOptions,
  Settlement,
} from './session/run.js';
export type {
  ChangeHandle,
  EventsOptions,
  ParallelOptions,
  ParallelOutcome,
  ParallelTask,
  ResumeOptions,
  Session,
  SessionChange,
  TurnStream,
} from './session/session.js';
export type { MessagePage, MessagesOptions, SessionInfo, SessionView } from './session/session-view.js';
export type {
  DrainOptions,
  DrainReport,
  NodeInfo,
  Placement,
  PlacementAnswer,
  RunnableSession,
} from './session/placement.js';
export type { SessionMcp } from './session/session-mcp.js';
export type {
  PromptInput,
  PromptLike,
  StopResult,
  ToolOutcome,
  TurnHandle,
  TurnResult,
  TurnStatus,
  WhenBusy,
} from './session/turn.js';
export { manyToken, oneToken } from './token.js';
export type { Cardinality, Scope, Token, TokenValue } from './token.js';
export {
  AGENT_DEFINITIONS,
  AGENTS,
  APPROVAL,
  ARTIFACT_STORE,
  ASKER,
  BUDGET_GUARDS,
  CLI_COMMANDS,
  COMMANDS,
  EVENT_STORE,
  FACTS,
  GATES,
  HOOKS,
  HOST_ENV,
  HTTP_ROUTES,
  LOGGER,
  MCP_SERVER_SOURCES,
  MCP_SERVERS,
  MODELS,
  NODE_PRESENCE,
  PERMISSION,
  PROJECTION_STORE,
  REDACTORS,
  SANDBOX,
  SECRETS,
  SESSION_TOOLS,
  SNAPSHOT_STORE,
  SYSTEM_BLOCKS,
  TOOLS,
  WORKSPACE_ENV,
  WORKSPACES,
} from './tokens.js';
export type { FactContribution } from './tokens.js';
