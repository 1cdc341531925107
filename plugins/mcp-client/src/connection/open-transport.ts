import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerConfiguration } from '../configuration.js';
import { boundedFetch } from './bounded-fetch.js';
import { StdioTransport } from './stdio-transport.js';

/** The way to a server, and what only its kind can tell. */
export interface OpenedTransport {
  readonly transport: Transport;
  protocolVersion(): string | undefined;
  /** Why it ended, or cannot be used, in the server's or the system's own words. */
  whyEnded(error?: unknown): string;
  close(end: () => Promise<void>): Promise<void>;
}

/** Variables of the runtime that every program needs to find its way. */
const USUAL_VARIABLES = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'SystemRoot', 'TEMP', 'APPDATA'];

/** Milliseconds for telling a server over HTTP that its session is over. */
const FAREWELL_MS = 500;

/** @param resolve puts secrets in the place of their references; throws PERDURE_SECRET_UNKNOWN */
export function openTransport(config: ServerConfiguration, resolve: (text: string) => string): OpenedTransport {
  return 'command' in config ? openStdio(config, resolve) : openHttp(config, resolve);
}

function openStdio(
  config: Extract<ServerConfiguration, { command: string }>,
  resolve: (text: string) => string,
): OpenedTransport {
  const environment: Record<string, string> = {};
  for (const name of [...USUAL_VARIABLES, ...config.environment]) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const [name, value] of Object.entries(config.variables)) environment[name] = resolve(value);
  const { command, workingDirectory, maxMessageBytes } = config;
  const args = config.args.map(resolve);
  const transport = new StdioTransport({ command, args, workingDirectory, environment, maxMessageBytes });
  return {
    transport,
    protocolVersion: () => transport.protocolVersion,
    whyEnded: (error) => {
      const said = transport.stderr.trim();
      const why = error === undefined ? 'it ended' : textOf(error);
      return said === '' ? why : `${why}; it said last: ${said}`;
    },
    close: (end) => end(),
  };
}

function openHttp(
  config: Extract<ServerConfiguration, { url: string }>,
  resolve: (text: string) => string,
): OpenedTransport {
  let whyBroken: string | undefined;
  const headers = Object.fromEntries(Object.entries(config.headers).map(([name, value]) => [name, resolve(value)]));
  const transport = new StreamableHTTPClientTransport(new URL(resolve(config.url)), {
    requestInit: { headers },
    fetch: boundedFetch({
      maxMessageBytes: config.maxMessageBytes,
      onBroken: (reason) => {
        whyBroken = reason;
        // Whoever waits for the rest of the answer waits in vain.
        void transport.close();
      },
    }),
    // What broke off is begun anew, by who knows whether it may be.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  return {
    // Its optional members are declared more widely than those of the interface.
    transport: transport as Transport,
    protocolVersion: () => transport.protocolVersion,
    whyEnded: (error) => whyBroken ?? (error === undefined ? 'the connection ended' : textOf(error)),
    close: async (end) => {
      const farewell = transport.terminateSession().catch(() => undefined);
      await Promise.race([farewell, new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref())]);
      await end();
    },
  };
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && error.message === 'fetch failed'
    ? `${error.message}: ${cause.message}`
    : error.message;
}
