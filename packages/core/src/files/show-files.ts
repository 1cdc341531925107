import type { JsonValue } from '@perdure/events';
import { isTextType, READ_ARTIFACT, type LanguageModel } from '@perdure/plugin-api';
import type {
  ModelArtifact,
  ModelFile,
  ModelMessage,
  ModelOutput,
  ModelText,
  ModelToolResult,
} from '../invoke/language-model.js';
import { excerptOf } from '../invoke/output-excerpt.js';
import { isShown } from './file-options.js';
import type { SessionFiles } from './session-files.js';

/** To whom files are shown. */
export interface Viewer {
  readonly model: Pick<LanguageModel, 'specificationVersion'>;
  readonly files: SessionFiles;
  /** Whether the model can ask for more of an artifact. */
  readonly hasReader: boolean;
}

type Shown = ModelText | ModelFile;

/**
 * The messages as the model takes them: bytes in the place of references to artifacts, in the shapes of its
 * specification. What the messages were recorded as, and their digests, do not depend on it. Messages without files are
 * handed on as they are.
 */
export async function showFiles(messages: readonly ModelMessage[], viewer: Viewer): Promise<ModelMessage[]> {
  const shown: ModelMessage[] = [];
  for (const message of messages) {
    if (hasFiles(message)) shown.push(...(await showMessage(message, viewer)));
    else shown.push(message);
  }
  return shown;
}

/** Whether a message has anything to be put in its place before a model sees it. */
export function hasFiles({ role, content }: ModelMessage): boolean {
  if (role === 'system' || typeof content === 'string') return false;
  return content.some(
    (part) => part.type === 'artifact' || part.type === 'file' || (part.type === 'tool-result' && part.files),
  );
}

async function showMessage(message: ModelMessage, viewer: Viewer): Promise<readonly ModelMessage[]> {
  switch (message.role) {
    case 'system':
      return [message];
    case 'tool':
      return showResults(message.content, viewer);
    case 'user': {
      const content: Shown[] = [];
      for (const part of message.content) content.push(await showPart(part, viewer));
      return [{ role: 'user', content }];
    }
    case 'assistant': {
      const content: Exclude<(typeof message.content)[number], ModelArtifact>[] = [];
      for (const part of message.content) {
        content.push(part.type === 'file' || part.type === 'artifact' ? await showPart(part, viewer) : part);
      }
      return [{ role: 'assistant', content }];
    }
  }
}

/** Results with their files: in the results, or in a message behind them. */
async function showResults(results: readonly ModelToolResult[], viewer: Viewer): Promise<readonly ModelMessage[]> {
  const inResult = viewer.files.options.ofTools === 'result';
  const content: ModelToolResult[] = [];
  const behind: Shown[] = [];
  for (const { files = [], ...result } of results) {
    const shown: Shown[] = [];
    for (const file of files) shown.push(await showPart(file, viewer));
    if (inResult && shown.length > 0) {
      content.push({ ...result, output: withContent(result.output, shown, viewer) });
      continue;
    }
    content.push(result);
    if (shown.length === 0) continue;
    behind.push({ type: 'text', text: `Files of the result of ${result.toolName} (call ${result.toolCallId}):` });
    behind.push(...shown);
  }
  const tool: ModelMessage = { role: 'tool', content };
  return behind.length === 0 ? [tool] : [tool, { role: 'user', content: behind }];
}

/** A file of a message: as a file, as a text, or as what can be said of it. */
async function showPart(part: ModelText | ModelFile | ModelArtifact, viewer: Viewer): Promise<Shown> {
  if (part.type === 'text') return part;
  if (part.type === 'file') return { ...part, data: dataFor(viewer.model, part.data) };
  const { artifact, filename, providerOptions } = part;
  const options = providerOptions === undefined ? {} : { providerOptions };
  const text = (value: string): ModelText => ({ type: 'text', text: value, ...options });
  if (artifact === undefined) return text(`[The file ${about(part)} could not be kept.]`);
  if (isTextType(artifact.mediaType)) return text(await textFile(part, artifact, viewer));
  if (!isShown(artifact.mediaType, viewer.files.options)) {
    return text(`[The file ${about(part)}. Its content is not shown.]`);
  }
  const bytes = await viewer.files.whole(artifact.digest);
  if (bytes === undefined) return text(gone(part));
  return {
    type: 'file',
    mediaType: artifact.mediaType,
    data: dataFor(viewer.model, bytes),
    ...(filename === undefined ? {} : { filename }),
    ...options,
  };
}

type Artifact = NonNullable<ModelArtifact['artifact']>;

async function textFile(part: ModelArtifact, { digest }: Artifact, viewer: Viewer): Promise<string> {
  const limit = viewer.files.outputCharacters;
  const reader = viewer.hasReader ? READ_ARTIFACT : undefined;
  const kind = `text ${limit} ${reader ?? ''}`;
  const excerpt = await viewer.files.textOf(kind, digest, (bytes) => {
    const whole = new TextDecoder().decode(bytes);
    return whole.length <= limit ? whole : excerptOf(whole, limit, { digest, reader });
  });
  return excerpt === undefined ? gone(part) : `[The file ${about(part)}:]\n${excerpt}\n[End of the file]`;
}

function gone(part: ModelArtifact): string {
  return `[The file ${about(part)}. It is no longer kept.]`;
}

/** Name, type, size and digest, as far as there are any. */
function about({ filename, mediaType, artifact }: ModelArtifact): string {
  const kept = artifact === undefined ? [] : [`${artifact.bytes} bytes`, `artifact ${artifact.digest}`];
  return `${filename === undefined ? '' : `${JSON.stringify(filename)} `}(${[mediaType, ...kept].join(', ')})`;
}

/** Version 4 tags the data of a file with their kind. */
function dataFor({ specificationVersion }: Viewer['model'], data: ModelFile['data']): ModelFile['data'] {
  if (specificationVersion !== 'v4' || isTagged(data)) return data;
  return data instanceof URL ? { type: 'url', url: data } : { type: 'data', data };
}

function isTagged(data: ModelFile['data']): data is Extract<ModelFile['data'], { readonly type: string }> {
  return typeof data === 'object' && 'type' in data;
}

/** An output with files in it. */
function withContent(output: ModelOutput, shown: readonly Shown[], { model }: Viewer): ModelOutput {
  const text = typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
  const value: JsonValue[] = [{ type: 'text', text }];
  for (const part of shown) value.push(contentOf(part, model.specificationVersion) as JsonValue);
  return { type: 'content', value };
}

/** What the versions call a file in a result. */
function contentOf(part: Shown, version: string): unknown {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, data, filename } = part;
  const named = filename === undefined ? {} : { filename };
  if (version === 'v4') return { type: 'file', mediaType, data, ...named };
  const base64 = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : data;
  if (version === 'v2') return { type: 'media', mediaType, data: base64 };
  const isImage = mediaType.startsWith('image/');
  return isImage
    ? { type: 'image-data', mediaType, data: base64 }
    : { type: 'file-data', mediaType, data: base64, ...named };
}
