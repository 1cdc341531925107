import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
  type CallToolResult,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { ToolContext } from '@perdure/plugin-api';
import { z } from 'zod';
import { elicit, unaskedOf, type AskingCall, type Unasked } from '../elicitation/elicit.js';
import { version } from '../version.js';
import { CallClock } from './call-clock.js';
import { CallBroken, NotSent } from './call-broken.js';
import type { OpenedTransport } from './open-transport.js';

/** A tool list is read page by page, and no further than this. */
const MOST_PAGES = 100;
const MOST_LISTED = 10_000;
/** Calls have a clock of their own, which can stand still. */
const UNLIMITED = 2 ** 31 - 1;

/** What a question must be is checked behind this, and a server that asks in another way is told so. */
const elicitation = z.object({ method: z.literal('elicitation/create'), params: z.looseObject({}) });

/** Tools are checked one by one: one that is not well-formed harms itself alone. */
const toolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

export interface CallOptions {
  /** The server's name, as people know it. */
  readonly server: string;
  readonly ask: ToolContext['ask'];
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
}

export interface CallAnswer {
  readonly result: CallToolResult;
  /** What the server wanted to ask people meanwhile and could not. */
  readonly unasked: readonly Unasked[];
}

/** A call that runs, and what the server asked in vain meanwhile. */
interface RunningCall extends AskingCall {
  readonly unasked: Unasked[];
}

/** An initialised conversation with a server, until its end. Nothing in it is tried twice. */
export class Connection {
  /** Resolves with why it ended; never rejects. */
  readonly ended: Promise<string>;
  private readonly running = new Set<RunningCall>();

  private constructor(
    private readonly client: Client,
    private readonly transport: OpenedTransport,
  ) {
    this.ended = new Promise((resolve) => {
      // The library's objects are no event targets.
      Object.assign(client, { onclose: () => resolve(transport.whyEnded()) });
    });
  }

  /** Throws what hinders it, with nothing left running. */
  static async open(transport: OpenedTransport, onToolsChanged: () => void, signal: AbortSignal): Promise<Connection> {
    const client = new Client(
      { name: 'perdure', version },
      // Roots and sampling are not offered, and people are not sent to addresses.
      { capabilities: { elicitation: { form: {} } } },
    );
    const connection = new Connection(client, transport);
    client.setRequestHandler(elicitation, (request, { signal: taken }) => connection.elicit(request, taken));
    client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged);
    try {
      await untilAborted(client.connect(transport.transport, { signal }), signal);
      return connection;
    } catch (error) {
      const why = transport.whyEnded(error);
      await connection.close();
      throw new CallBroken('not-sent', why, { cause: error });
    }
  }

  get protocolVersion(): string | null {
    return this.transport.protocolVersion() ?? null;
  }

  get software(): string | null {
    const info = this.client.getServerVersion();
    return info === undefined ? null : `${info.name} ${info.version}`;
  }

  get instructions(): string | null {
    return this.client.getInstructions() ?? null;
  }

  /** Throws CallBroken. */
  async listTools(signal: AbortSignal): Promise<readonly unknown[]> {
    if (this.client.getServerCapabilities()?.tools === undefined) return [];
    const tools: unknown[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES && tools.length < MOST_LISTED; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const read = await this.request(() =>
        this.client.request({ method: 'tools/list', params }, toolPage, { signal }),
      );
      tools.push(...read.tools);
      cursor = read.nextCursor;
      // A server that leads in a circle has said all that it has to say.
      if (cursor === undefined || seen.has(cursor)) break;
      seen.add(cursor);
    }
    return tools.slice(0, MOST_LISTED);
  }

  /** Throws CallBroken, and what the signal is aborted with. */
  async callTool(name: string, input: Record<string, unknown>, options: CallOptions): Promise<CallAnswer> {
    const { server, ask, signal } = options;
    const clock = new CallClock(options.timeoutMs, options.maxTimeoutMs);
    const over = new AbortController();
    const waitFor: AskingCall['waitFor'] = (people) => clock.standStill(people);
    const call: RunningCall = { server, ask, signal: over.signal, waitFor, unasked: [] };
    this.running.add(call);
    try {
      // Progress shows that the server lives; there is nobody to tell it to.
      const limits = { timeout: UNLIMITED, onprogress: () => clock.hear() };
      const ending = AbortSignal.any([signal, clock.signal]);
      const meta = { 'perdure/idempotency-key': options.idempotencyKey };
      const request = { method: 'tools/call', params: { name, arguments: input, ['_meta']: meta } } as const;
      const send = () => this.client.request(request, CallToolResultSchema, { signal: ending, ...limits });
      const result = await this.request(send, signal, clock.signal);
      return { result, unasked: call.unasked };
    } finally {
      clock.end();
      over.abort();
      this.running.delete(call);
    }
  }

  close(): Promise<void> {
    return this.transport.close(() => this.client.close());
  }

  /** A server does not say for which of its calls it asks: it can be known only while there is one. */
  private async elicit(request: unknown, taken: AbortSignal): Promise<ElicitResult> {
    const { params } = ElicitRequestSchema.parse(request);
    const [call, other] = this.running;
    if (call === undefined || other !== undefined || params.mode === 'url') {
      const reason = 'the server does not say for which of its calls it asks';
      for (const each of this.running) each.unasked.push(unaskedOf(params.message, 'PERDURE_TOOL_ASKS', reason));
      return { action: 'decline' };
    }
    const { result, unasked } = await elicit(params, call, taken);
    if (unasked !== undefined) call.unasked.push(unasked);
    return result;
  }

  private async request<Result>(
    send: () => Promise<Result>,
    signal?: AbortSignal,
    time?: AbortSignal,
  ): Promise<Result> {
    try {
      return await send();
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (time?.aborted === true) throw new CallBroken('timed-out', 'no answer', { cause: error });
      throw this.broken(error);
    }
  }

  private broken(error: unknown): CallBroken {
    const options = { cause: error };
    if (error instanceof NotSent) return new CallBroken('not-sent', error.message, options);
    if (error instanceof McpError) {
      if (error.code === (ErrorCode.ConnectionClosed as number)) {
        return new CallBroken('lost', this.transport.whyEnded(), options);
      }
      if (error.code === (ErrorCode.RequestTimeout as number)) return new CallBroken('timed-out', 'no answer', options);
      return new CallBroken('refused', error.message, options);
    }
    const isRefused = error instanceof StreamableHTTPError && (error.code ?? 0) >= 400 && (error.code ?? 0) < 500;
    return new CallBroken(isRefused ? 'refused' : 'lost', this.transport.whyEnded(error), options);
  }
}

/** A connection attempt hangs as long as it likes; nobody waits for it that long. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}
