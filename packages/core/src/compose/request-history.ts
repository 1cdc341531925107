import type { Message } from '@perdure/plugin-api';
import { digestOf } from '../host/sha256.js';
import { hasFiles } from '../files/show-files.js';
import type { ModelMessage } from '../invoke/language-model.js';
import type { SessionState } from '../session/session-state.js';
import { sizeOfMessage } from './message-size.js';
import { renderMessage, renderSummary } from './render-message.js';

const NOTHING = digestOf('');

/**
 * The conversation as models are given it, kept from step to step: it is extended by what has come and never rebuilt,
 * and so is its running digest.
 */
export class RequestHistory {
  private readonly rendered: ModelMessage[] = [];
  /** For each message what it was rendered from: a message of the transcript, or the summary's text. */
  private readonly sources: (Message | string | undefined)[] = [];
  /** For each message the digest of everything up to it. */
  private readonly digests: (string | undefined)[] = [];
  private compactions = 0;
  private marksExternal = false;
  /** For each message how many characters of a request it and all before it are. */
  private readonly sizes: number[] = [];
  /** For each message how many of it and all before it have files. */
  private readonly withFiles: number[] = [];

  /**
   * Brings the list to a state's context, followed by the messages that join. A state that was folded ahead of a commit
   * and given up leaves nothing behind: what does not belong is taken back first.
   */
  follow(state: SessionState, joining: readonly number[], marksExternal = false): void {
    if (state.compactions !== this.compactions || marksExternal !== this.marksExternal) this.drop(0);
    this.marksExternal = marksExternal;
    this.compactions = state.compactions;
    const offset = state.summary === undefined ? 0 : 1;
    const length = offset + state.context.length + joining.length;
    const sourceAt = (index: number): Message | string | undefined => {
      if (index < offset) return state.summary;
      const place = state.context.at(index - offset) ?? joining[index - offset - state.context.length];
      return state.messages.at(place as number);
    };
    const { sources } = this;
    if (sources.length > length) this.drop(length);
    this.drop(firstStale(sources, sourceAt));
    for (let index = sources.length; index < length; index++) this.push(sourceAt(index));
    this.digestUpTo(length - 1, state);
  }

  /** The messages behind others that come first; a list of its own, so that a model may keep it. */
  messages(first: readonly ModelMessage[]): ModelMessage[] {
    return first.concat(this.rendered);
  }

  get length(): number {
    return this.rendered.length;
  }

  /** About how many characters of a request the messages are. */
  get characters(): number {
    return this.sizes.at(-1) ?? 0;
  }

  /** Whether any message has files. */
  get hasFiles(): boolean {
    return (this.withFiles.at(-1) ?? 0) > 0;
  }

  /** The same of so many of the first of them. */
  charactersOf(messages: number): number {
    return this.sizes[Math.min(messages, this.sizes.length) - 1] ?? 0;
  }

  get digest(): string {
    return this.digests.at(-1) ?? NOTHING;
  }

  private push(source: Message | string | undefined): void {
    const isMessage = typeof source === 'object';
    const message = isMessage ? renderMessage(source, this.marksExternal) : renderSummary(source ?? '');
    this.rendered.push(message);
    this.sizes.push(this.characters + sizeOfMessage(message));
    this.withFiles.push((this.withFiles.at(-1) ?? 0) + (hasFiles(message) ? 1 : 0));
    this.sources.push(source);
    this.digests.push(undefined);
  }

  private drop(length: number): void {
    this.rendered.length = length;
    this.sources.length = length;
    this.sizes.length = length;
    this.withFiles.length = length;
    this.digests.length = length;
  }

  /**
   * Digests run on from the last that is known; a session that was just opened knows the one that its last step
   * recorded.
   */
  private digestUpTo(last: number, state: SessionState): void {
    let known = last;
    while (known >= 0 && this.digests[known] === undefined) known--;
    const recorded = state.lastStep?.view.history;
    // A digest from before a compaction says nothing of the list that came out of it.
    if (
      known < 0 &&
      recorded?.compactions === state.compactions &&
      recorded.messages > 0 &&
      recorded.messages - 1 <= last
    ) {
      known = recorded.messages - 1;
      this.digests[known] = recorded.digest;
    }
    let digest = known < 0 ? NOTHING : (this.digests[known] as string);
    for (let index = known + 1; index <= last; index++) {
      digest = digestOf(`${digest}\n${JSON.stringify(this.rendered[index])}`);
      this.digests[index] = digest;
    }
  }
}

/**
 * Where what was given up begins. It is behind the last answer that is the same: an answer that is stored was asked for
 * when all before it was stored, while the results behind it grow, and prompts that were given up may come again.
 */
function firstStale(
  sources: readonly (Message | string | undefined)[],
  sourceAt: (index: number) => Message | string | undefined,
): number {
  let first = sources.length;
  for (let index = sources.length - 1; index >= 0; index--) {
    const source = sourceAt(index);
    if (sources[index] !== source) first = index;
    else if (typeof source === 'object' && source.role === 'assistant') break;
  }
  return first;
}
