import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reasonOf } from '@perdure/plugin-api';
import { chatRequest, requestOfChat, type ChatRequest } from './chat-request.js';
import { writeChatAnswer } from './chat-response.js';
import { providerFailure } from './provider-failure.js';
import type { Script, ScriptedError } from './script.js';
import { ScriptReader } from './script-reader.js';

export interface ModelServerOptions {
  readonly script: Script;
  /** A free one when absent. */
  readonly port?: number;
  /** The ids that `GET /v1/models` tells; `scripted` when absent. Requests for other models are answered too. */
  readonly models?: readonly string[];
}

export interface ModelServer {
  /** The base URL for a provider: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly port: number;
  /** The bodies of all chat requests, in the order in which they came. */
  readonly requests: readonly ChatRequest[];
  /** The headers of the same requests. */
  readonly requestHeaders: readonly IncomingHttpHeaders[];
  /** Ends every connection, also in the middle of an answer. */
  close(): Promise<void>;
}

/**
 * Starts an HTTP server on the loopback interface that speaks the OpenAI-compatible chat protocol and answers by a
 * script: `POST /v1/chat/completions`, streamed or not, `GET /v1/models`, and `GET /requests` for the bodies that it
 * got.
 *
 * Throws PERDURE_CONFIGURATION for a script that is not one, and the system's error when the port is taken.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const reader = new ScriptReader(options.script);
  const requests: ChatRequest[] = [];
  const requestHeaders: IncomingHttpHeaders[] = [];

  async function answerChat(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = chatRequest.safeParse(await readJson(incoming));
    if (!body.success) {
      const issue = body.error.issues[0];
      writeFailure(response, { status: 400, message: `${issue?.path.join('.') || 'body'}: ${issue?.message}` });
      return;
    }
    requests.push(body.data);
    requestHeaders.push(incoming.headers);
    const id = `chatcmpl-${requests.length}`;
    await writeChatAnswer(response, body.data, await reader.answerTo(requestOfChat(body.data)), id);
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${incoming.method} ${incoming.url}`;
    if (route === 'POST /v1/chat/completions') return answerChat(incoming, response);
    if (route === 'GET /requests') return writeJson(response, 200, requests);
    if (route === 'GET /v1/models') {
      const data = (options.models ?? ['scripted']).map((id) => ({ id, object: 'model', owned_by: 'perdure' }));
      return writeJson(response, 200, { object: 'list', data });
    }
    writeFailure(response, { status: 404, message: `There is no ${route}.`, code: 'not_found' });
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else writeFailure(response, { status: 400, message: `The script failed: ${reasonOf(error)}` });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    requestHeaders,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function writeFailure(response: ServerResponse, error: ScriptedError): void {
  const { status, headers, body } = providerFailure(error);
  writeJson(response, status, body, headers);
}

function writeJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
