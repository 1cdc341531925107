import type { SessionScope } from './session-tools.js';

/** How an MCP server is reached, and how far it is trusted. A text may hold references `secret://<name>`. */
export type McpServerSetting = (McpStdioSetting | McpHttpSetting) & McpServerOptions;

/** A program that is started, and talked to by its input and output. */
export interface McpStdioSetting {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Absolute path of the folder that it runs in; that of the runtime when absent. */
  readonly workingDirectory?: string | undefined;
  /** Names of variables of the runtime that it sees, beside `PATH`, `HOME`, `LANG`, `TMPDIR` and `USER`. */
  readonly environment?: readonly string[] | undefined;
  /** Further variables and their values. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** A server behind an address that speaks streamable HTTP. */
export interface McpHttpSetting {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface McpServerOptions {
  /** `false`: the server is named and not used. */
  readonly enabled?: boolean | undefined;
  /**
   * What is believed of the hints that the server gives about its tools. `none`: whatever it says, a call that broke
   * off is never repeated. `hints`: what it calls read-only or idempotent is taken as that.
   */
  readonly trust?: 'none' | 'hints' | undefined;
  /** Calls a person must agree to, whatever the rules say; those that the server calls destructive when absent. */
  readonly confirm?: 'destructive' | 'always' | 'never' | undefined;
  /** The server's names of the tools that are used; all of them when absent. */
  readonly tools?: readonly string[] | undefined;
  /** Milliseconds that it may take to connect. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds of silence that a call may have, and that it may take all in all. */
  readonly timeoutMs?: number | undefined;
  readonly maxTimeoutMs?: number | undefined;
  /** Bytes of the longest message of the server that is read; 16 MiB when absent. */
  readonly maxMessageBytes?: number | undefined;
}

/** Servers that a plugin package brings to all sessions. The host's configuration goes before it, name by name. */
export interface McpServerSource {
  readonly name: string;
  readonly servers: Readonly<Record<string, McpServerSetting>>;
}

/** How a server stands in this process. */
export interface McpServerStatus {
  readonly name: string;
  /** Whose it is: of all sessions, of a session above, or of this session alone. */
  readonly owner: 'global' | 'inherited' | 'session';
  /** A server of the same name that is nearer to the session hides this one. */
  readonly isShadowed: boolean;
  readonly transport: 'stdio' | 'http';
  readonly state: 'disabled' | 'connecting' | 'ready' | 'failed' | 'closed';
  /** Why it failed, as far as it may be shown. */
  readonly reason: string | null;
  /** The names of its tools as models call them. */
  readonly tools: readonly string[];
  /** Tools of the server that are not offered or are offered under another name, and why. */
  readonly problems: readonly { readonly tool: string; readonly reason: string }[];
  readonly protocolVersion: string | null;
  /** What the server calls itself. Its own words: not to be trusted. */
  readonly software: string | null;
  /** What the server says of its use, bounded and cleaned. Its own words: no model is shown them. */
  readonly instructions: string | null;
}

/** The MCP servers of a runtime or an agent, and of the sessions. */
export interface McpServers {
  /**
   * Gives one session, and those that work for it, a server. Resolves when it is connected or has failed, which its
   * status tells; its tools are there from the next step on. Throws PERDURE_INPUT_INVALID.
   */
  add(session: SessionScope, name: string, setting: McpServerSetting): Promise<McpServerStatus>;
  /** Takes a server of the session's own away; one that it hid shows again. Whether there was one. */
  remove(session: SessionScope, name: string): Promise<boolean>;
  /** Those of all sessions first, then those of the sessions above, then the session's own. */
  list(session: SessionScope): readonly McpServerStatus[];
}
