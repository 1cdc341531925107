import type { EventEnvelopeV1, JsonValue, Usage } from '@perdure/events';
import { advice } from '../terminal/advice.js';
import { callLabel } from '../terminal/call-label.js';
import type { Screen } from '../terminal/screen.js';
import { visible, visibleLine } from '../terminal/visible.js';
import type { NextCommands } from './next-commands.js';
import { shellQuote } from './shell-quote.js';
import type { DeniedCall, TurnEnd, TurnReporter } from './turn-reporter.js';

type Payload = EventEnvelopeV1['payload'];

/** A turn in words: text as it streams, one line per call with its outcome, token counts at the end. */
export class TerminalReporter implements TurnReporter {
  private readonly labels = new Map<string, string>();
  /** Arguments of calls as far as they have come. */
  private readonly inputs = new Map<string, { readonly tool: string; readonly text: string }>();
  private readonly denials = new Map<string, DeniedCall>();

  /** @param commands those that let a call pass that waits, and answer its questions, without the call's id */
  constructor(
    private readonly screen: Screen,
    private readonly commands: Pick<NextCommands, 'approve' | 'answer'>,
  ) {}

  async event({ type, payload }: EventEnvelopeV1, denied: DeniedCall | undefined): Promise<void> {
    const { screen } = this;
    if (denied !== undefined) this.denials.set(denied.callId, denied);
    switch (type) {
      case 'turn_start':
        return screen.wait('thinking');
      case 'text_delta':
        return screen.text(text(payload, 'text'));
      case 'reasoning_delta':
        return screen.aside(text(payload, 'text'));
      case 'tool_start':
        this.inputs.set(text(payload, 'id'), { tool: text(payload, 'name'), text: '' });
        return screen.wait(text(payload, 'name'));
      case 'tool_input_delta':
        return this.addInput(text(payload, 'id'), text(payload, 'delta'));
      case 'confirmation_required':
        return this.askElsewhere(payload);
      case 'user_question':
        return this.questionElsewhere(payload);
      case 'permission_denied':
        return void this.remember(text(payload, 'tool_id'), text(payload, 'tool_name'), payload['args']);
      case 'tool_execution_start':
        return screen.wait(this.remember(text(payload, 'id'), text(payload, 'name'), payload['args']));
      case 'tool_end':
        return this.settled(payload);
      case 'model_call_failed':
        return this.callFailed(payload);
      case 'answer_interrupted':
        await screen.endText();
        return screen.note(screen.style.dim(`(the answer broke off: ${brokenBy(text(payload, 'reason'))})`));
      case 'command_ran':
        return screen.text(text(payload, 'output'));
      case 'turn_end':
        return screen.endText();
      default:
        return undefined;
    }
  }

  async end({ session, result, denied, resume, next }: TurnEnd): Promise<void> {
    const { screen } = this;
    const { style } = screen;
    await screen.endText();
    const allowable = [...new Set(denied.flatMap(({ rule }) => (rule === undefined ? [] : [rule])))];
    if (allowable.length > 1) {
      await screen.note(`to allow all of them: ${allowable.map((rule) => `--allow ${shellQuote(rule)}`).join(' ')}`);
    }
    await screen.note(style.dim(tokens(result.usage)));
    if (result.status === 'cancelled') {
      await screen.note(`stopped; to go on with another prompt: ${visible(next)}`);
    } else if (!result.success) {
      const { code = '', message = 'The turn did not end.' } = result.error ?? {};
      const label = result.status === 'suspended' ? style.yellow('unfinished:') : style.red('error:');
      await screen.note(`${label} ${visible(message)} ${style.dim(`(${visible(code)})`)}`);
      const hint = (advice as Readonly<Record<string, string>>)[code];
      if (hint !== undefined) await screen.note(`  ${hint.replaceAll('SESSION', session)}`);
    }
    if (resume !== undefined) await screen.note(`to go on: ${visible(resume)}`);
  }

  /** The turn waits, and whoever may answer does so from anywhere. */
  private async askElsewhere(payload: Payload): Promise<void> {
    const { screen } = this;
    const { approve } = this.commands;
    const callId = text(payload, 'tool_id');
    const label = this.remember(callId, text(payload, 'tool_name'), payload['args']);
    const reason = text(payload, 'reason');
    await screen.endText();
    const mark = screen.error.isTerminal ? screen.style.yellow('?') : '[waiting]';
    await screen.note(`${mark} ${label}${reason === '' ? '' : `: ${visibleLine(reason, 300)}`}`);
    await screen.note(`  ${visible(approve)} ${visible(callId)}   (or perdure deny)`);
    return screen.wait('waiting for an answer');
  }

  private async questionElsewhere(payload: Payload): Promise<void> {
    const { screen } = this;
    const questions = Array.isArray(payload['questions']) ? payload['questions'] : [];
    await screen.endText();
    const mark = screen.error.isTerminal ? screen.style.yellow('?') : '[waiting]';
    for (const each of questions) {
      const asked = each as Payload;
      await screen.note(`${mark} ${visible(text(asked, 'question_id'))}: ${visibleLine(text(asked, 'question'), 300)}`);
    }
    const { answer } = this.commands;
    await screen.note(`  ${visible(answer)} ${visible(text(payload, 'tool_id'))} --answer QUESTION=ANSWER`);
    return screen.wait('waiting for an answer');
  }

  private addInput(callId: string, delta: string): void {
    const known = this.inputs.get(callId);
    if (known !== undefined) this.inputs.set(callId, { ...known, text: known.text + delta });
  }

  /** The arguments of a call that was settled before it was decided. */
  private inputOf(callId: string): JsonValue | undefined {
    const { text: input = '' } = this.inputs.get(callId) ?? {};
    try {
      return JSON.parse(input) as JsonValue;
    } catch {
      // What is no JSON is shown as the text that it is.
      return input;
    }
  }

  private remember(callId: string, tool: string, args: JsonValue | undefined): string {
    const label = callLabel(tool, args, Math.max(20, this.screen.error.width - 24));
    this.labels.set(callId, label);
    return label;
  }

  private async settled(payload: Payload): Promise<void> {
    const { screen } = this;
    const callId = text(payload, 'id');
    const status = text(payload, 'status');
    const label = this.labels.get(callId) ?? this.remember(callId, text(payload, 'name'), this.inputOf(callId));
    this.inputs.delete(callId);
    const failure = payload['error_kind'];
    const reason = isRecord(failure) ? text(failure, 'message') : '';
    await screen.endText();
    await screen.note(`${this.mark(status)} ${label}${reason === '' ? '' : `: ${visibleLine(reason, 300)}`}`);
    const { rule } = this.denials.get(callId) ?? {};
    if (rule !== undefined) await screen.note(`  to allow it: --allow ${shellQuote(rule)}`);
  }

  private async callFailed(payload: Payload): Promise<void> {
    const { screen } = this;
    await screen.endText();
    const next = payload['retryable'] === true ? '' : '; it is not tried again';
    const message = `${text(payload, 'message')} (try ${String(payload['attempt'])}${next})`;
    await screen.note(`${screen.style.yellow('model:')} ${visibleLine(message, 400)}`);
    await screen.wait('thinking');
  }

  /** A sign on a terminal, a word in a pipe. */
  private mark(status: string): string {
    const { error, style } = this.screen;
    if (!error.isTerminal) return `[${status}]`;
    if (status === 'completed') return style.green('✓');
    if (status === 'cancelled' || status === 'unknown') return style.yellow(status === 'unknown' ? '?' : '–');
    return style.red('✗');
  }
}

function tokens({ inputTokens, outputTokens, reasoningTokens, cacheReadTokens }: Usage): string {
  const more = [
    ...(cacheReadTokens > 0 ? [`${counted(cacheReadTokens)} of them cached`] : []),
    `${counted(outputTokens)} out`,
    ...(reasoningTokens > 0 ? [`${counted(reasoningTokens)} of them reasoning`] : []),
  ];
  return `tokens: ${counted(inputTokens)} in, ${more.join(', ')}`;
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}

/** Why an answer broke off, for people. Its owner may have died, or the session was taken from it. */
function brokenBy(reason: string): string {
  return reason === 'crashed' ? 'its run ended' : reason;
}

function text(payload: Payload, member: string): string {
  const value = payload[member];
  return typeof value === 'string' ? value : '';
}

function isRecord(value: JsonValue | undefined): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
