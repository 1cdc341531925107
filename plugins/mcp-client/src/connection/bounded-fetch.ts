import { NotSent } from './call-broken.js';

export interface FetchBounds {
  /** Bytes of the longest message that is read. */
  readonly maxMessageBytes: number;
  /** An answer broke off before its end. */
  readonly onBroken: (reason: string) => void;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What the system says when a request did not get as far as the server. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Requests to one server: no answer is read beyond its bounds, none leads elsewhere, and an answer that breaks off is
 * told. Throws NotSent where the server cannot have seen the request, or has forgotten the session that it is of.
 */
export function boundedFetch({ maxMessageBytes, onBroken }: FetchBounds): Fetch {
  return async (url, init) => {
    let response: Response;
    try {
      response = await fetch(url, { ...init, redirect: 'manual' });
    } catch (error) {
      const code = codeOf(error);
      if (code !== undefined && UNREACHED.has(code))
        throw new NotSent(`it cannot be reached (${code})`, { cause: error });
      throw error;
    }
    // Servers that know nothing of a session answer with either.
    const isForgotten = (response.status === 404 || response.status === 400) && init?.method === 'POST';
    if (isForgotten && new Headers(init.headers).has('mcp-session-id')) {
      await response.body?.cancel();
      throw new NotSent(`it does not know the session (${response.status})`);
    }
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const isAnswer = init?.method === 'POST';
    const broken = (reason: string): void => {
      if (isAnswer && init.signal?.aborted !== true) onBroken(reason);
    };
    const body = bounded(response.body, maxMessageBytes, isStream, broken);
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const first = cause instanceof AggregateError ? (cause.errors as unknown[])[0] : cause;
  const code = typeof first === 'object' && first !== null && 'code' in first ? first.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A stream of events is as long as it likes; each of its events is bounded. */
function bounded(
  body: ReadableStream<Uint8Array>,
  longest: number,
  isStream: boolean,
  onBroken: (reason: string) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  let wasLineEnd = false;
  const fits = (chunk: Uint8Array): boolean => {
    if (!isStream) return (length += chunk.length) <= longest;
    for (const byte of chunk) {
      if (byte === 13) continue;
      // An empty line ends an event.
      length = byte === 10 && wasLineEnd ? 0 : length + 1;
      wasLineEnd = byte === 10;
      if (length > longest) return false;
    }
    return true;
  };
  let isLeft = false;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { value, done } = await reader.read();
        if (isLeft) return;
        if (done) return controller.close();
        if (!fits(value)) throw new Error(`its answer is larger than ${longest} bytes`);
        controller.enqueue(value);
      } catch (error) {
        if (isLeft) return;
        await reader.cancel().catch(() => undefined);
        controller.error(error);
        onBroken(error instanceof Error ? error.message : 'its answer broke off');
      }
    },
    // Whoever does not want the rest is not told of its end.
    cancel: (reason) => {
      isLeft = true;
      return reader.cancel(reason);
    },
  });
}
