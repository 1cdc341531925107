import type { AnswerPart, FilePart, UserPart } from '@perdure/events';
import { errorMessage, type Message, type ToolResultPart } from '@perdure/plugin-api';
import { markedExternal } from './external-content.js';
import type {
  ModelArtifact,
  ModelFile,
  ModelMessage,
  ModelReasoning,
  ModelText,
  ModelToolCall,
  ModelToolResult,
} from '../invoke/language-model.js';

/** A message as models are given it; what comes from outside between marks, where they are wanted. */
export function renderMessage(message: Message, marksExternal = false): ModelMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.parts.map(renderUserPart) };
    case 'assistant': {
      // What a person stopped is shown as far as it was said; calls that were never made are not shown.
      const isWhole = message.status === 'complete';
      const parts = isWhole ? message.parts : message.parts.filter(({ type }) => type === 'text');
      return { role: 'assistant', content: parts.map(renderAnswerPart) };
    }
    case 'tool':
      return { role: 'tool', content: message.parts.map((part) => renderResult(part, marksExternal)) };
  }
}

/** How the summary of what was compacted is given, before the messages that were kept. */
export function renderSummary(summary: string): ModelMessage {
  return { role: 'user', content: [{ type: 'text', text: `Summary of the conversation so far:\n\n${summary}` }] };
}

function renderUserPart(part: UserPart): ModelText | ModelFile | ModelArtifact {
  return part.type === 'text' ? withOptions({ type: 'text', text: part.text }, part) : renderFile(part);
}

function renderAnswerPart(part: AnswerPart): ModelText | ModelReasoning | ModelFile | ModelArtifact | ModelToolCall {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return withOptions({ type: part.type, text: part.text } as ModelText | ModelReasoning, part);
    case 'file':
      return renderFile(part);
    case 'tool-call': {
      const input = part.invalidInput === undefined ? (part.input ?? {}) : { invalid_arguments: part.invalidInput };
      return withOptions({ type: 'tool-call', toolCallId: part.callId, toolName: part.name, input }, part);
    }
  }
}

/** Bytes in the artifact store stay a reference until a model is called: a request is the same whatever they are. */
function renderFile(part: FilePart): ModelFile | ModelArtifact {
  const { data, artifact, mediaType } = part;
  const named = part.filename === undefined ? {} : { filename: part.filename };
  if (data === undefined) {
    const kept = artifact === undefined ? {} : { artifact };
    return withOptions({ type: 'artifact', mediaType, ...kept, ...named }, part);
  }
  const url = /^(https?|data):/.test(data) ? new URL(data) : data;
  return withOptions({ type: 'file', mediaType, data: url, ...named }, part);
}

function withOptions<Part>(rendered: Part, part: { readonly providerMetadata?: ModelText['providerOptions'] }): Part {
  return part.providerMetadata === undefined ? rendered : { ...rendered, providerOptions: part.providerMetadata };
}

function renderResult(part: ToolResultPart, marksExternal: boolean): ModelToolResult {
  const result = renderOutput(part);
  if (!marksExternal || part.trust !== 'external') return result;
  const { type, value } = result.output;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const marked = markedExternal(part.callId, part.name, text);
  return { ...result, output: { type: type === 'error-text' ? type : 'text', value: marked } };
}

function renderOutput(part: ToolResultPart): ModelToolResult {
  const files = part.files === undefined ? {} : { files: part.files.map(renderResultFile) };
  const about = { type: 'tool-result', toolCallId: part.callId, toolName: part.name, ...files } as const;
  if (part.status === 'completed') {
    const { output = null } = part;
    return {
      ...about,
      output: typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output },
    };
  }
  const failure = part.failure ?? {
    code: 'PERDURE_TOOL_FAILED',
    message: errorMessage('PERDURE_TOOL_FAILED', { tool: part.name }),
  };
  const seen = part.output === undefined ? '' : `\n${JSON.stringify(part.output)}`;
  return { ...about, output: { type: 'error-text', value: `${failure.code}: ${failure.message}${seen}` } };
}

/** Files of results are never inline. */
function renderResultFile({ mediaType, filename, artifact }: FilePart): ModelArtifact {
  return {
    type: 'artifact',
    mediaType,
    ...(artifact === undefined ? {} : { artifact }),
    ...(filename === undefined ? {} : { filename }),
  };
}
