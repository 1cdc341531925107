/**
 * Fetch whose error responses do not show the secrets, should the endpoint quote them. Answers pass through untouched.
 */
export function redactingFetch(secrets: readonly string[]): typeof fetch {
  const pattern = secretPattern(secrets);
  if (pattern === undefined) return (input, init) => fetch(input, init);
  const redact = (text: string) => text.replace(pattern, '[redacted]');
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    return new Response(response.body === null ? null : redactedBody(response.body, redact), {
      status: response.status,
      statusText: redact(response.statusText),
      headers: Array.from(response.headers, ([name, value]): [string, string] => [name, redact(value)]),
    });
  };
}

function redactedBody(body: ReadableStream<Uint8Array>, redact: (text: string) => string): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  let text = '';
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk) {
        text += decoder.decode(chunk, { stream: true });
      },
      flush(controller) {
        controller.enqueue(new TextEncoder().encode(redact(text + decoder.decode())));
      },
    }),
  );
}

/** Below this a secret is a placeholder, as local servers take them, and may stand in the middle of a common word. */
const SHORTEST_KEY = 8;

/** Finds the secrets, also as they stand in JSON and in URLs; a short one only as a word of its own. */
function secretPattern(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set(secrets.filter((secret) => secret !== '').flatMap(writtenForms));
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return undefined;
  return new RegExp(longestFirst.map(formPattern).join('|'), 'g');
}

function writtenForms(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}

function formPattern(form: string): string {
  const escaped = form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return form.length < SHORTEST_KEY ? `(?<![0-9A-Za-z])${escaped}(?![0-9A-Za-z])` : escaped;
}
