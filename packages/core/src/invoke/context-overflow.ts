/** How far into a text that is no JSON words are looked for. */
const BEGINNING = 2_000;
/** How deep errors lie in one another: `{ error: { … } }`, or that in a list. */
const DEPTH = 4;

/** Codes and types by which providers name the refusal of a request that is too long. */
const KINDS = /^(?:context_length_exceeded|exceed_context_size_error|context_window_exceeded|request_too_large)$/i;

/**
 * What they say where they give it no code. Each names the length of the request or the context as what is too large;
 * words that limits of a rate share are not among them.
 */
const SAYINGS: readonly RegExp[] = [
  // OpenAI, Azure, DeepSeek, vLLM, OpenRouter.
  /maximum context length/i,
  /exceed\w* (?:the|this|its)?\s*(?:model'?s? )?(?:maximum )?context (?:window|length|limit|size)/i,
  /context[_ ]length[_ ]exceeded|context window exceeds limit/i,
  // Anthropic, also at Bedrock and Vertex.
  /prompt is too long/i,
  /input length and `?max_tokens`? exceed context limit/i,
  // Bedrock.
  /input is too long for (?:the )?requested model/i,
  /too many input tokens/i,
  // Google.
  /input token count\b.{0,40}\bexceeds the maximum number of tokens/i,
  // llama.cpp, LM Studio, Ollama.
  /exceeds the available context size/i,
  /greater than the context length|when context the overflows/i,
  /input length exceeds (?:the |maximum )?context length/i,
  // vLLM and TGI.
  /(?:prompt|input)\b.{0,60}\bis longer than the maximum model length/i,
  /(?:prompt|input)\b.{0,60}\bis too long (?:to fit into the model|and exceeds)/i,
  /`?inputs`? tokens \+ `?max_new_tokens`? must be <=/i,
  // xAI, Mistral, Groq, GitHub, Moonshot, Cohere.
  /maximum prompt length is \d+/i,
  /too large for model with \d+ maximum context/i,
  /reduce the length of the messages/i,
  /prompt token count of \d+ exceeds the limit/i,
  /exceeded model token limit/i,
  /total number of tokens in the prompt cannot exceed/i,
];

/** Whether an error, or its body as text or as what was read from it, says that the request is too long. */
export function saysOverflow(error: unknown, depth = DEPTH): boolean {
  if (typeof error === 'string') {
    const parsed = parsedJson(error);
    if (parsed !== undefined) return saysOverflow(parsed, depth);
    return KINDS.test(error) || SAYINGS.some((saying) => saying.test(error.slice(0, BEGINNING)));
  }
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  if (Array.isArray(error)) return error.slice(0, 1).some((first) => saysOverflow(first, depth - 1));
  // What repeats the request is not looked at: a conversation may speak of such errors.
  const { code, type, message, error: inner } = error as Readonly<Record<string, unknown>>;
  if ([code, type].some((kind) => typeof kind === 'string' && KINDS.test(kind))) return true;
  return (typeof message === 'string' && saysOverflow(message, 0)) || saysOverflow(inner, depth - 1);
}

function parsedJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
