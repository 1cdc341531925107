import type {
  ActivePlugin,
  ApprovalMode,
  ArtifactReference,
  Change,
  Failure,
  FinishReason,
  Labels,
  Delegation,
  RunStatus,
  SessionProfile,
  StepSetup,
  StepView,
  SystemBlock,
  Usage,
} from '@perdure/events';
import { noUsage } from '@perdure/events';
import type { Message } from '@perdure/plugin-api';
import type { SessionVariables } from './variables.js';
import { noVariables } from './variables.js';
import { AppendList } from './append-list.js';
import type { CallState } from './call-state.js';
import type { ErasureRequest } from './erasure-request.js';
import type { ChildState } from './child-state.js';

/** Changes whenever the same facts would fold to another state; state snapshots of another version are ignored. */
export const FOLD_VERSION = 5;

/** What is known of a session that is not loaded. */
export type KnownState = Pick<SessionState, 'identity' | 'labels' | 'plugins'>;

/**
 * What a session is: the fold of its stream and nothing else. Immutable; `evolve` makes the next one. Everything in it
 * survives JSON, so that it can be hashed and kept as a snapshot.
 */
export interface SessionState {
  readonly identity: SessionIdentity | undefined;
  readonly labels: Labels;
  readonly naming: Naming;
  /** When the session was archived, in epoch milliseconds; absent while it is not. */
  readonly archivedAt: number | undefined;
  /** The session's own model by name; the agent's when absent. */
  readonly model: string | undefined;
  /** The session's own approval mode; the policy's when absent. */
  readonly approvals: ApprovalMode | undefined;
  /** What the session above was bound to since this one began: no mode counts that is less strict. */
  readonly approvalCap: ApprovalMode | undefined;
  /** What tools are handed as their environment; the values are with the host. It changes between steps only. */
  readonly env: SessionVariables;
  readonly ownership: Ownership;
  /** Turns that have not ended, in order; the first is the one that runs or is next. */
  readonly open: readonly OpenTurn[];
  readonly ended: AppendList<EndedTurn>;
  readonly messages: AppendList<Message>;
  /** Indexes into `messages`: what models see, in their order. */
  readonly context: AppendList<number>;
  /** Stands for everything that compaction took out of `context`. */
  readonly summary: string | undefined;
  /** How often `context` was rewritten. */
  readonly compactions: number;
  /** The tokens that the provider counted for the last request, and how many messages of `context` were in it. */
  readonly measured: { readonly inputTokens: number; readonly messages: number } | undefined;
  /** What estimates were multiplied by when `context` was compacted the last time. */
  readonly correction: number | undefined;
  readonly changes: readonly PendingChange[];
  /** The system prompt, when it is frozen. */
  readonly system: readonly SystemBlock[] | undefined;
  readonly plugins: readonly ActivePlugin[] | undefined;
  /** Calls of the host that are not settled. */
  readonly hostCalls: readonly CallState[];
  /** Parts of calls that are not settled, with what they came to: whoever runs the call again does not repeat them. */
  readonly nestedCalls: readonly CallState[];
  /** Sessions that were handed work and of whose end something is still to be told. */
  readonly children: readonly ChildState[];
  /** Sessions that were started below this one, or that those may still start. */
  readonly descendants: number;
  /** Messages that wait for the next step of any turn: results that came too late. */
  readonly notices: readonly WaitingMessage[];
  /** What the last step was made with. */
  readonly setup: StepSetup | undefined;
  readonly lastStep: { readonly stepId: string; readonly view: StepView } | undefined;
  readonly usage: Usage;
  /** The provider's id of the model that gave the last answer. */
  readonly answeredBy: string | undefined;
  /** What each model took of it, in the order of their first answers. */
  readonly spent: readonly ModelSpend[];
  /** Commands that a client named by an id of its own: the same id again is not another command. */
  readonly commands: AppendList<KnownCommand>;
  /** Someone wants all of it to be gone: it takes nothing more. */
  readonly erase: ErasureRequest | undefined;
  /** The stream has come to its last fact. */
  readonly isErased: boolean;
  /**
   * The artifacts that facts name, each as often as they do, of a fork also those from before it: what of the store is
   * the session's to read.
   */
  readonly artifacts: AppendList<ArtifactReference>;
  /** A fact that this build does not know and must not run past. */
  readonly newer: { readonly type: string; readonly version: number; readonly revision: number } | undefined;
}

/** Where a session goes on from another one of its tenant. */
export interface ForkOrigin {
  readonly session: string;
  readonly revision: number;
}

export interface SessionIdentity {
  readonly agentId: string;
  readonly forkedFrom?: ForkOrigin;
  readonly workspace?: string;
  readonly parent?: string;
  readonly root?: string;
  readonly profile?: SessionProfile;
  readonly delegation?: Delegation;
  readonly timezone?: string;
  readonly createdAt: number;
  /** The snapshot that it was made of, and how many messages that has. */
  readonly imported?: { readonly digest: string; readonly messages: number };
}

/** What the session is called, and what was done to give it a title. */
export interface Naming {
  readonly title?: string;
  readonly by?: 'host' | 'model';
  /** A model was asked for a title, whatever came of it: none is asked again. */
  readonly isAsked?: true;
  /** Turns that were completed; `MANY_TURNS` stands for all numbers from there on. */
  readonly completed: number;
}

/** As many completed turns as are counted. */
export const MANY_TURNS = 3;

export interface ModelSpend {
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A command that ran: its fact is at `revision`. */
export interface KnownCommand {
  readonly promptId: string;
  readonly revision: number;
}

export interface Ownership {
  readonly epoch: number;
  /** Absent before the first take-over and after a release. */
  readonly owner?: { readonly node: string; readonly incarnation: string };
  /** The owner ended its run to let another node go on: it need not be dead to be followed. */
  readonly handedOver: boolean;
  /** Someone wants the session off its owner. Gone with the next owner. */
  readonly passivation?: { readonly reason: string; readonly deadlineMs?: number };
}

/** A message that is stored and waits for a step boundary to be shown to the model. */
export interface WaitingMessage {
  readonly id: string;
  readonly message: number;
}

export interface OpenTurn {
  readonly turnId: string;
  readonly prompts: readonly { readonly promptId: string; readonly cancelled?: true }[];
  /** The id that the host chose for the first run. */
  readonly chosen: ChosenRun | undefined;
  /** Prompts that no step has taken in. */
  readonly waiting: readonly WaitingMessage[];
  readonly stop: { readonly reason?: string; readonly failure?: Failure } | undefined;
  readonly runs: readonly RunState[];
  /** The index that the next step of this turn gets. */
  readonly steps: number;
  readonly step: OpenStep | undefined;
  /** The last step's answer asked for nothing more: the turn ends unless someone has something to add. */
  readonly concluded: FinishReason | undefined;
  /**
   * What became of a request that the provider found too long: nothing so far, the conversation was compacted and no
   * answer came since, or it was too long all the same.
   */
  readonly overflow: 'pending' | 'compacted' | 'again' | undefined;
  readonly usage: Usage;
  /** Milliseconds that models and tools have worked on it. */
  readonly workedMs: number;
  readonly firstMessage: number;
}

/** A run that the host named with its prompt, before anything began it. */
export interface ChosenRun {
  readonly runId: string;
  /** Digest of the prompt as it was given. */
  readonly digest: string;
  readonly revision: number;
  readonly acceptedAt: number;
}

export interface RunState {
  readonly runId: string;
  /** The revision of its first fact, and when that was written. */
  readonly first: number;
  readonly startedAt: number;
  /** The same of its last fact; absent while it is active. */
  readonly last?: number;
  readonly endedAt?: number;
  readonly epoch: number;
  /** Absent while it is active. */
  readonly status?: RunStatus;
  readonly resumedFrom?: string;
}

export interface OpenStep {
  readonly stepId: string;
  readonly index: number;
  /** Tries of the model call that failed. */
  readonly failures: number;
  readonly lastFailure:
    { readonly failure: Failure; readonly retryable: boolean; readonly retryAfterMs?: number } | undefined;
  readonly interrupted: 'stopped' | 'failed' | 'crashed' | 'handed-over' | undefined;
  readonly answer: { readonly messageId: string; readonly finish: FinishReason; readonly usage: Usage } | undefined;
  readonly calls: readonly CallState[];
  /** When the first call began and the last one ended, of those that ran. */
  readonly busy?: { readonly from: number; readonly to: number };
  /** Index of the message that holds the results. */
  readonly results: number | undefined;
}

export interface EndedTurn {
  readonly turnId: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly runId?: string;
  readonly failure?: Failure;
  readonly usage: Usage;
  readonly promptIds: readonly string[];
  readonly chosen?: ChosenRun;
  readonly runs: readonly RunState[];
  /** The turn's messages are among these. */
  readonly firstMessage: number;
  readonly lastMessage: number;
}

export interface PendingChange {
  readonly changeId: string;
  readonly change: Change;
}

export const initialState: SessionState = {
  identity: undefined,
  labels: {},
  naming: { completed: 0 },
  archivedAt: undefined,
  model: undefined,
  approvals: undefined,
  approvalCap: undefined,
  env: noVariables,
  ownership: { epoch: 0, handedOver: false },
  open: [],
  ended: AppendList.empty(),
  messages: AppendList.empty(),
  context: AppendList.empty(),
  summary: undefined,
  compactions: 0,
  measured: undefined,
  correction: undefined,
  changes: [],
  system: undefined,
  plugins: undefined,
  hostCalls: [],
  nestedCalls: [],
  children: [],
  descendants: 0,
  notices: [],
  setup: undefined,
  lastStep: undefined,
  usage: noUsage,
  answeredBy: undefined,
  spent: [],
  commands: AppendList.empty(),
  erase: undefined,
  isErased: false,
  artifacts: AppendList.empty(),
  newer: undefined,
};

/** The run of a turn that is going on, if there is one. */
export function activeRun(turn: OpenTurn): RunState | undefined {
  const run = turn.runs.at(-1);
  return run?.status === undefined ? run : undefined;
}

/** Whether messages of the snapshot that the session is made of are not there yet. */
export function isImporting({ identity, messages }: SessionState): boolean {
  return identity?.imported !== undefined && messages.length < identity.imported.messages;
}

/** The turn that runs or is next to run. */
export function currentTurn(state: SessionState): OpenTurn | undefined {
  return state.open[0];
}
