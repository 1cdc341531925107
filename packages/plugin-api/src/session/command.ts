/** What a command may know of its session. */
export interface CommandContext {
  readonly sessionId: string;
  readonly workspace: string | null;
  /** The name of the model that the next step would use. */
  readonly model: string | null;
  /** Messages that models are shown. */
  readonly historyLen: number;
  readonly totalTokens: number;
  /** In the currency of the runtime's prices; `null` when a model that was used has none. */
  readonly totalCost: number | null;
  readonly toolNames: readonly string[];
  readonly mcpServers: readonly { readonly name: string; readonly toolCount: number }[];
  /** Aborts when the time is over or the session is let go. */
  readonly signal: AbortSignal;
}

/** Gives the text that answers the command. `input` is what stands behind its name, without spaces around it. */
export type CommandHandler = (input: string, context: CommandContext) => string | Promise<string>;

/** A command that is run for a prompt `/name …`, in the place of a model. */
export interface SlashCommand {
  /** A letter, then letters, digits, `-` and `_`; at most 64. */
  readonly name: string;
  readonly description: string;
  readonly handler: CommandHandler;
  /** Milliseconds; 5,000 when absent. */
  readonly timeoutMs?: number;
}

/** Commands of a plugin. */
export interface CommandSource {
  readonly name: string;
  readonly commands: readonly SlashCommand[];
}

export interface CommandInfo {
  readonly name: string;
  readonly description: string;
  readonly source: 'built-in' | 'plugin' | 'session';
}
