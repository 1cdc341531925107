import type { SessionOptions } from './agent.js';
import type { Session } from './session.js';

/** The sessions of an agent, wherever they are: in this process, in another one, or in none. */
export interface Sessions {
  /** A new session; its first fact is durable when the promise resolves. Throws PERDURE_SESSION_EXISTS. */
  create(options?: SessionOptions): Promise<Session>;
  /** A session that exists; one handle, however many ask. Labels that are given replace those that the session has. */
  get(id: string, patch?: SessionOptions): Promise<Session>;
  /** A page of sessions, read from a view that looks at no message. */
  list(options?: ListOptions): Promise<SessionPage>;
  /**
   * Sessions that contain a text, upper and lower case alike, in their id, title or preview, or in the first 4,096
   * characters of a prompt or an answer. What models thought, files, calls and their outputs are not searched. The
   * texts of messages are in an index of their own, which is brought up to date by searches alone.
   */
  search(query: string, options?: SearchOptions): Promise<SearchPage>;
  /**
   * Puts a session away: it can be read and is left out of lists, and prompts, changes, commands, calls of tools and
   * resumes are refused with PERDURE_SESSION_ARCHIVED until it is restored. Throws PERDURE_SESSION_BUSY while a turn
   * runs or waits, and PERDURE_SESSION_ARCHIVED, which says since when, for one that is away already.
   */
  archive(id: string, reason?: string): Promise<void>;
  /** Brings an archived session back. Throws PERDURE_SESSION_NOT_ARCHIVED. */
  restore(id: string): Promise<void>;
  /**
   * Makes a session out of a snapshot (`SessionSnapshotV1`, or what came before it) of this or another system: its
   * messages, in sight of models, and where it comes from. Its id is the one that is given, else that of the snapshot,
   * else one made of both. The same snapshot again is the same session, and an import that broke off goes on with it.
   * Options come before what the snapshot says of model and labels; the workspace is never taken from it. Throws
   * PERDURE_SNAPSHOT_INVALID naming the field, and PERDURE_SESSION_EXISTS.
   */
  import(snapshot: unknown, options?: SessionOptions): Promise<Session>;
  /**
   * A new session that goes on from another one, whatever the length of that one: behind its last step boundary at or
   * before `at`. What was open there is not its: turns, prompts, calls, approvals, what was spent. The other one is not
   * touched and need not be here. Throws PERDURE_SESSION_NOT_FOUND, _EXISTS, _ERASED, PERDURE_INPUT_INVALID.
   */
  fork(id: string, options?: ForkOptions): Promise<Session>;
  /** The session with what came out of it: those that work for it, and those that were forked from it. */
  tree(id: string): Promise<SessionTree>;
  /**
   * Destroys everything that a session and those that work for it hold: facts, drafts, artifacts, snapshots. Turns are
   * stopped, on whatever node. What is left says that there was a session, and its id stays taken. Refused with
   * PERDURE_HAS_FORKS while others are forked from it, which `cascade` destroys with it. Safe to repeat.
   */
  erase(id: string, options?: EraseOptions): Promise<Erasure>;
  /** The same where it is enough to know whether there was such a session. */
  remove(id: string): Promise<boolean>;
}

export interface ForkOptions extends Omit<SessionOptions, 'parent' | 'mcp'> {
  /** A revision of the session; its head when absent. */
  readonly at?: number;
}

export interface SessionTree {
  readonly id: string;
  readonly agentId: string;
  /** What it is to the one above it; `null` at the top. */
  readonly kind: 'child' | 'fork' | null;
  /** The revision from which a fork goes on. */
  readonly at: number | null;
  readonly isErased: boolean;
  readonly below: readonly SessionTree[];
}

export interface EraseOptions {
  /** Whether sessions that were forked from it go with it; `false` when absent. */
  readonly cascade?: boolean;
  /** Kept in what is left. */
  readonly reason?: string;
}

export interface Erasure {
  /** The sessions that are gone, those below first. */
  readonly sessions: readonly string[];
}

export interface ListOptions {
  /** At most this many; 50 when absent, 500 at the most. */
  readonly limit?: number;
  /** The `nextCursor` of the page before, given with the same other options. */
  readonly cursor?: string;
  /** `true` for sessions that are archived, in the place of those that are not. */
  readonly archived?: boolean;
  /** Only sessions whose id, title or preview contains this text, upper and lower case alike. */
  readonly query?: string;
  /** Only sessions that work for this one; with `null` only those that work for none. */
  readonly parent?: string | null;
}

/**
 * A listing goes by the order in which its first page was read: a session that was there then is on exactly one page,
 * whatever happens to it in between, as long as it still fits the options. Sessions that were made since are not on it.
 */
export interface SessionPage {
  /** The most recently changed first, as it was when the first page was read; shown as they are. */
  readonly items: readonly SessionSummary[];
  /** How many sessions the whole listing has. */
  readonly total: number;
  readonly nextCursor: string | null;
}

export interface SessionSummary {
  readonly id: string;
  readonly tenant: string | null;
  readonly agentId: string;
  readonly workspace: string | null;
  /** The session that this one works for, and the one at the top of the tree. */
  readonly parent: string | null;
  readonly root: string;
  /** What it is called; `null` before its first prompt. */
  readonly title: string | null;
  readonly titleBy: TitleBy | null;
  /** The beginning of the newest prompt or answer, at most 180 characters on one line. */
  readonly preview: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The IANA name of the time zone in which it was made, where that was recorded. */
  readonly timezone: string | null;
  /** Prompts and answers. */
  readonly messages: number;
  /** UTF-8 bytes of the facts that hold prompts, answers and outputs of tools; artifacts are not counted. */
  readonly historyBytes: number;
  readonly totalTokens: number;
  /** The provider's id of the model that gave the last answer; before that the name of the session's own model. */
  readonly modelLabel: string | null;
  /** `importing` is not whole: its import goes on, or broke off and must be repeated. */
  readonly status: 'idle' | 'running' | 'waiting' | 'importing';
  readonly owner: string | null;
  /** Epoch milliseconds; `null` for a session that is not archived. */
  readonly archivedAt: number | null;
}

/** Who a title is from; `prompt` when it is the first words of the first prompt. */
export type TitleBy = 'host' | 'model' | 'prompt';

export type SearchOptions = Omit<ListOptions, 'query'>;

export interface SearchPage extends SessionPage {
  readonly items: readonly FoundSession[];
}

export interface FoundSession extends SessionSummary {
  readonly found: {
    readonly in: 'id' | 'title' | 'preview' | 'message';
    /** What stands around the text, at most 180 characters on one line. */
    readonly excerpt: string;
  };
}
