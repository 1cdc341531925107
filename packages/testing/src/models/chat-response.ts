import type { ServerResponse } from 'node:http';
import { pause, unlessAborted } from './abort.js';
import { chatChunk, chatCompletion, chatDelta, chatFinish, chatUsage, type ChatAnswerIdentity } from './chat-answer.js';
import type { ChatRequest } from './chat-request.js';
import { completeAnswer } from './complete-answer.js';
import { faultBeforeAnswer, playAnswer, type AnswerBeat } from './play-answer.js';
import { providerFailure } from './provider-failure.js';
import type { ScriptedAnswer } from './script.js';

const DONE = 'data: [DONE]\n\n';

/** Answers a chat request as the script wants it. Resolves when the answer has ended or the client has gone. */
export async function writeChatAnswer(
  response: ServerResponse,
  request: ChatRequest,
  answer: ScriptedAnswer,
  id: string,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.destroyed) gone.abort();
  const identity = { id, model: request.model };
  try {
    if (answer.delayMs !== undefined) await pause(answer.delayMs, gone.signal);
    const fault = faultBeforeAnswer(answer);
    if (fault === 'error') writeError(response, answer);
    else if (fault === 'cut') response.destroy();
    else if (fault === 'stall') await pause(Number.POSITIVE_INFINITY, gone.signal);
    else if (request.stream === true) await writeStream(response, request, answer, identity, gone.signal);
    else await writeWhole(response, answer, identity, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

/** An error without a status is a connection that breaks. */
function writeError(response: ServerResponse, answer: ScriptedAnswer): void {
  if (answer.error?.status === undefined) {
    response.destroy();
    return;
  }
  const { status, headers, body } = providerFailure(answer.error);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(text);
}

async function writeStream(
  response: ServerResponse,
  request: ChatRequest,
  answer: ScriptedAnswer,
  identity: ChatAnswerIdentity,
  gone: AbortSignal,
): Promise<void> {
  const complete = completeAnswer(answer);
  const withUsage = request.stream_options?.include_usage === true;
  const noUsage = withUsage ? { usage: null } : {};
  const opened = new Set<number>();

  async function send(chunk: unknown): Promise<void> {
    await write(response, `data: ${JSON.stringify(chunk)}\n\n`, gone);
  }

  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  await send(chatChunk(identity, { delta: { role: 'assistant', content: '' }, ...noUsage }));
  for (const beat of playAnswer(answer)) {
    switch (beat.kind) {
      case 'wait':
        await pause(beat.ms, gone);
        break;
      case 'cut':
        response.destroy();
        break;
      case 'malformed':
        await write(response, 'data: {"id":"chatcmpl-1","choices":[{"delta":\n\n', gone);
        break;
      case 'error':
        await send(providerFailure(answer.error ?? {}).body);
        response.end(DONE);
        break;
      case 'end':
        response.end(DONE);
        break;
      case 'finish':
        await send(chatChunk(identity, { delta: {}, finish: chatFinish(complete.finish), ...noUsage }));
        if (withUsage && complete.usage !== undefined) {
          await send(chatChunk(identity, { usage: chatUsage(complete.usage) }));
        }
        response.end(DONE);
        break;
      default: {
        const isFirstOfCall = beat.kind === 'call' && !opened.has(beat.call);
        if (beat.kind === 'call') opened.add(beat.call);
        await send(chatChunk(identity, { delta: chatDelta(complete, beat, isFirstOfCall), ...noUsage }));
      }
    }
  }
}

/** Without streaming a client sees no deltas: a fault behind the first delta shows in the middle of the body. */
async function writeWhole(
  response: ServerResponse,
  answer: ScriptedAnswer,
  identity: ChatAnswerIdentity,
  gone: AbortSignal,
): Promise<void> {
  const kinds = new Set<AnswerBeat['kind']>();
  let stalls = false;
  for (const beat of playAnswer(answer)) {
    kinds.add(beat.kind);
    if (beat.kind === 'wait' && Number.isFinite(beat.ms)) await pause(beat.ms, gone);
    else if (beat.kind === 'wait') stalls = true;
  }
  const complete = completeAnswer(answer);
  const completion = chatCompletion(identity, complete, kinds.has('end') ? null : chatFinish(complete.finish));
  const whole = JSON.stringify(kinds.has('error') ? providerFailure(answer.error ?? {}).body : completion);
  const half = whole.slice(0, whole.length / 2);
  const text = kinds.has('malformed') ? half : whole;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  if (!stalls && !kinds.has('cut')) {
    response.end(text);
    return;
  }
  await write(response, half, gone);
  if (stalls) await pause(Number.POSITIVE_INFINITY, gone);
  else response.destroy();
}

/** Resolves when the bytes have left for the client, so that a cut behind them does not take them along. */
async function write(response: ServerResponse, text: string, gone: AbortSignal): Promise<void> {
  const written = new Promise<void>((resolve, reject) => {
    response.write(text, (error) => (error ? reject(error) : resolve()));
  });
  await unlessAborted(written, gone);
}
