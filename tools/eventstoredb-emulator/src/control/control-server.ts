import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ZodError } from 'zod';
import type { Member } from '../cluster/members.js';
import type { FaultControl } from '../emulator.js';
import type { FaultRule } from '../faults/fault.js';

/** The faults of an emulator that is a process of its own, over HTTP on the loopback. */
export interface ControlServer {
  readonly url: string;
  close(): Promise<void>;
}

type Handle = (faults: FaultControl, body: unknown) => Promise<unknown>;

const ROUTES: Readonly<Record<string, Handle>> = {
  'POST /faults': (faults, body) => faults.inject(body as FaultRule),
  'DELETE /faults': (faults) => faults.clear(),
  'DELETE /connections': (faults) => faults.cutConnections(),
  'PUT /members': (faults, body) => faults.setMembers(body as Member[]),
  'GET /counts': (faults) => faults.counts(),
};

/** A free port when `port` is 0. */
export async function serveControl(faults: FaultControl, port: number): Promise<ControlServer> {
  const server = createServer((request, response) => void answer(faults, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

async function answer(faults: FaultControl, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const handle = ROUTES[`${request.method ?? ''} ${request.url ?? ''}`];
  if (handle === undefined) return end(response, 404, { error: `One of: ${Object.keys(ROUTES).join(', ')}` });
  try {
    end(response, 200, (await handle(faults, await bodyOf(request))) ?? {});
  } catch (error) {
    const isInput = error instanceof ZodError || error instanceof SyntaxError;
    end(response, isInput ? 400 : 500, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}

function end(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
