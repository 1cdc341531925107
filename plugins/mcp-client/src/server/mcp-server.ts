import { PerdureError, type McpServerStatus, type Secrets, type ToolContext } from '@perdure/plugin-api';
import type { ServerConfiguration } from '../configuration.js';
import { CallBroken } from '../connection/call-broken.js';
import type { CallAnswer, Connection } from '../connection/connection.js';
import { nothingOffered, offeredTools, type OfferedTool, type OfferedTools } from '../tools/offered-tools.js';
import { safeLine, safeText } from '../tools/safe-text.js';
import { ReconnectTimer } from './reconnect-timer.js';

const LONGEST_REASON = 500;
const LONGEST_INSTRUCTIONS = 4_096;
/** Milliseconds between two readings of the list, however often the server says that it has changed. */
const LIST_PAUSE_MS = 500;

export interface ServerParts {
  readonly secrets: Secrets;
  readonly log: (level: 'debug' | 'warn', message: string, data: Readonly<Record<string, string | number>>) => void;
}

export interface ToolCall extends Pick<ToolContext, 'ask'> {
  readonly tool: OfferedTool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/**
 * One server in this process: its connection, made anew where it broke, and the tools that it offers. It lives as long
 * as somebody has it, and while a call runs.
 */
export class McpServer {
  private state: McpServerStatus['state'];
  private reason: string | null = null;
  private offer: OfferedTools = nothingOffered;
  private connection: Connection | undefined;
  private opening: Promise<Connection> | undefined;
  private told: Pick<McpServerStatus, 'protocolVersion' | 'software' | 'instructions'> = {
    protocolVersion: null,
    software: null,
    instructions: null,
  };
  private calls = 0;
  private isOwned = true;
  private isDisposed = false;
  private listing: Promise<void> | undefined;
  private mustList = false;
  private readonly closing = new AbortController();
  private readonly retry = new ReconnectTimer(() => void this.connect());

  constructor(
    readonly name: string,
    private readonly config: ServerConfiguration,
    private readonly parts: ServerParts,
  ) {
    this.state = config.enabled ? 'connecting' : 'disabled';
  }

  /** What it offers; the same object as long as that does not change. */
  get offered(): OfferedTools {
    return this.offer;
  }

  status(owner: McpServerStatus['owner'], isShadowed: boolean): McpServerStatus {
    const { name, state, reason, told } = this;
    const { tools, problems } = this.offer;
    const transport = 'command' in this.config ? 'stdio' : 'http';
    return {
      name,
      owner,
      isShadowed,
      transport,
      state,
      reason,
      tools: tools.map((tool) => tool.name),
      problems,
      ...told,
    };
  }

  /** Tries to connect. What hinders it is in the status, and is tried again later. */
  async connect(): Promise<void> {
    if (this.state === 'disabled') return;
    await this.open().catch(() => undefined);
  }

  /**
   * Makes a call, once; a second time only when the first did not reach the server, or may be repeated. Throws
   * PERDURE_MCP_UNAVAILABLE, PERDURE_MCP_TOOL_CHANGED, PERDURE_TOOL_TIMEOUT, PERDURE_TOOL_FAILED where the server
   * refused, and PERDURE_TOOL_UNKNOWN_OUTCOME.
   */
  async call(call: ToolCall): Promise<CallAnswer> {
    this.calls += 1;
    try {
      return await this.tried(call, true);
    } finally {
      this.calls -= 1;
      void this.endIfLeft();
    }
  }

  /** Nobody has it any more: it ends with the last call that runs. */
  async leave(): Promise<void> {
    this.isOwned = false;
    this.retry.stop();
    await this.endIfLeft();
  }

  /** It ends at once, with the calls that run. */
  async dispose(): Promise<void> {
    this.isDisposed = true;
    this.isOwned = false;
    this.retry.stop();
    this.closing.abort(new Error('the server was closed'));
    await this.close();
  }

  private async tried(call: ToolCall, mayRepeat: boolean): Promise<CallAnswer> {
    const { tool, signal, input, idempotencyKey, ask } = call;
    const { timeoutMs, maxTimeoutMs } = this.config;
    const options = { server: this.name, ask, signal, idempotencyKey, timeoutMs, maxTimeoutMs };
    const connection = await this.reach(signal);
    if (this.offer.tools.find(({ name }) => name === tool.name)?.digest !== tool.digest) {
      throw new PerdureError('PERDURE_MCP_TOOL_CHANGED', { server: this.name, tool: tool.name });
    }
    try {
      return await connection.callTool(tool.remoteName, input, options);
    } catch (error) {
      if (!(error instanceof CallBroken)) throw error;
      const { breakage } = error;
      const isBroken = breakage === 'not-sent' || breakage === 'lost';
      if (isBroken) this.drop(connection, error.message);
      const isRepeatable = breakage === 'not-sent' || (breakage === 'lost' && tool.effect !== 'once');
      if (mayRepeat && isRepeatable && !this.isDisposed) return this.tried(call, false);
      throw this.failed(tool, error);
    }
  }

  private failed({ name: tool, effect }: OfferedTool, error: CallBroken): PerdureError {
    const reason = this.shown(error.message);
    const options = { cause: error };
    if (error.breakage === 'not-sent') return this.unavailable(reason, options);
    if (error.breakage === 'refused') return new PerdureError('PERDURE_TOOL_FAILED', { tool, reason }, options);
    if (effect === 'once') return new PerdureError('PERDURE_TOOL_UNKNOWN_OUTCOME', { tool }, options);
    if (error.breakage === 'lost') return this.unavailable(reason, options);
    return new PerdureError('PERDURE_TOOL_TIMEOUT', { tool, ms: this.config.timeoutMs }, options);
  }

  private unavailable(reason: string, options?: ErrorOptions): PerdureError {
    return new PerdureError('PERDURE_MCP_UNAVAILABLE', { server: this.name, reason }, options);
  }

  /** The connection, made anew when there is none. A caller who is aborted waits no longer. */
  private async reach(signal: AbortSignal): Promise<Connection> {
    if (this.isDisposed) throw this.unavailable('it was closed');
    if (this.state === 'disabled') throw this.unavailable('it is switched off');
    if (this.connection !== undefined) return this.connection;
    if (this.opening === undefined && this.retry.isWaiting) throw this.unavailable(this.reason ?? 'it failed');
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    try {
      return await Promise.race([this.open(), aborted]);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.unavailable(this.reason ?? 'it failed', { cause: error });
    }
  }

  private open(): Promise<Connection> {
    if (this.connection !== undefined) return Promise.resolve(this.connection);
    this.opening ??= this.establish().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async establish(): Promise<Connection> {
    this.state = 'connecting';
    const { name, config, parts } = this;
    const limit = AbortSignal.timeout(config.connectTimeoutMs);
    const signal = AbortSignal.any([this.closing.signal, limit]);
    try {
      // Loaded with the first server: who has none does without the library.
      const [{ Connection }, { openTransport }] = await Promise.all([
        import('../connection/connection.js'),
        import('../connection/open-transport.js'),
      ]);
      const transport = openTransport(config, (text) => parts.secrets.resolve(text, `mcp ${name}`));
      const connection = await Connection.open(transport, () => this.changed(), signal);
      try {
        this.take(connection, await connection.listTools(signal));
      } catch (error) {
        await connection.close();
        throw error;
      }
      if (this.isDisposed) {
        await connection.close();
        throw new Error('the server was closed');
      }
      return connection;
    } catch (error) {
      const reason = limit.aborted ? `no answer in ${config.connectTimeoutMs} ms` : messageOf(error);
      this.fail(reason);
      if (this.isOwned) this.retry.start();
      throw error;
    }
  }

  private take(connection: Connection, listed: readonly unknown[]): void {
    const { protocolVersion, software, instructions } = connection;
    this.told = {
      protocolVersion,
      software: software === null ? null : safeLine(software, 200),
      instructions:
        instructions === null ? null : safeText(this.parts.secrets.redact(instructions), LONGEST_INSTRUCTIONS),
    };
    this.setOffer(listed);
    this.connection = connection;
    this.state = 'ready';
    this.reason = null;
    this.retry.succeeded();
    void connection.ended.then((reason) => this.drop(connection, reason));
  }

  /** Steps keep the object that they began with, so an offer that is the same stays the same. */
  private setOffer(listed: readonly unknown[]): void {
    const offer = offeredTools(this.name, listed, this.config);
    const text = ({ tools, problems }: OfferedTools): string =>
      JSON.stringify([tools.map(({ digest }) => digest), problems]);
    if (text(offer) === text(this.offer)) return;
    this.offer = offer;
    const { length: tools } = offer.tools;
    if (offer.problems.length > 0) {
      const { tool = '', reason = '' } = offer.problems[0] ?? {};
      const data = { server: this.name, tools, problems: offer.problems.length, tool, reason };
      this.parts.log('warn', 'An MCP server has tools that are not offered as they are.', data);
    }
  }

  /** The list is read again; told many times, it is read seldom. */
  private changed(): void {
    this.mustList = true;
    this.listing ??= this.listAgain().finally(() => {
      this.listing = undefined;
    });
  }

  private async listAgain(): Promise<void> {
    while (this.mustList && this.connection !== undefined) {
      this.mustList = false;
      try {
        const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(this.config.connectTimeoutMs)]);
        this.setOffer(await this.connection.listTools(signal));
      } catch (error) {
        this.parts.log('warn', 'The tools of an MCP server could not be read again.', this.failureOf(error));
      }
      await new Promise((resolve) => setTimeout(resolve, LIST_PAUSE_MS).unref());
    }
  }

  private failureOf(error: unknown): Readonly<Record<string, string>> {
    return { server: this.name, reason: this.shown(messageOf(error)) };
  }

  /** The connection is over: the next call makes another. */
  private drop(connection: Connection, reason: string): void {
    if (this.connection !== connection) return;
    this.connection = undefined;
    this.fail(reason);
    void connection.close().catch(() => undefined);
  }

  private fail(reason: string): void {
    if (this.state === 'closed') return;
    this.state = this.isDisposed || !this.isOwned ? 'closed' : 'failed';
    this.reason = this.shown(reason);
    if (this.state === 'failed') {
      this.parts.log('warn', 'An MCP server cannot be used.', { server: this.name, reason: this.reason });
    }
  }

  private shown(reason: string): string {
    return safeLine(this.parts.secrets.redact(reason), LONGEST_REASON);
  }

  private async endIfLeft(): Promise<void> {
    if (!this.isOwned && this.calls === 0) await this.close();
  }

  private async close(): Promise<void> {
    await this.opening?.catch(() => undefined);
    const { connection } = this;
    this.connection = undefined;
    this.state = 'closed';
    await connection?.close().catch(() => undefined);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
