import type { AnswerPart } from '@perdure/events';
import type { Message, ToolResultPart } from '@perdure/plugin-api';
import type { Style } from '../terminal/ansi.js';
import { callLabel } from '../terminal/call-label.js';
import { jsonText } from '../terminal/json-text.js';
import { visible, visibleLine } from '../terminal/visible.js';

/** Lines of an output that people are shown; all of it is in `--json`. */
const MOST_LINES = 12;

/** A message as people read it. `style` colors; `width` is that of a line. */
export function formatMessage(message: Message, style: Style, width: number): readonly string[] {
  const at = style.dim(new Date(message.createdAt).toISOString());
  switch (message.role) {
    case 'user': {
      const mode = message.mode === 'turn' ? '' : ` (${message.mode})`;
      const parts = message.parts.map((part) => (part.type === 'text' ? part.text : fileLine(part)));
      return [`${style.bold(`user${mode}`)} ${at}`, ...indent(parts.join('\n')), ''];
    }
    case 'assistant': {
      const state = message.status === 'interrupted' ? ' (broke off)' : '';
      const lines = message.parts.flatMap((part) => answerLines(part, style, width));
      return [`${style.bold(`assistant${state}`)} ${at}`, ...lines, ''];
    }
    case 'tool':
      return [...message.parts.flatMap((part) => resultLines(part, style, width)), ''];
  }
}

function answerLines(part: AnswerPart, style: Style, width: number): readonly string[] {
  switch (part.type) {
    case 'text':
      return indent(part.text);
    case 'reasoning':
      return indent(part.text).map((line) => style.dim(line));
    case 'file':
      return [`  ${fileLine(part)}`];
    case 'tool-call':
      return [`  ${style.cyan('→')} ${callLabel(part.name, part.input ?? part.invalidInput, width - 4)}`];
  }
}

function resultLines(part: ToolResultPart, style: Style, width: number): readonly string[] {
  const { name, status, output, failure, artifact } = part;
  const paint =
    status === 'completed' ? style.green : status === 'failed' || status === 'denied' ? style.red : style.yellow;
  const head = `${style.bold(`tool ${visibleLine(name, 60)}`)} ${paint(status)}`;
  const reason = failure === undefined ? [] : [`  ${visibleLine(`${failure.message} (${failure.code})`, 400)}`];
  const text = output === undefined ? '' : typeof output === 'string' ? output : jsonText(output);
  const lines = indent(text).map((line) => visibleLine(line, width));
  const more = lines.length - MOST_LINES;
  const shown = more > 0 ? [...lines.slice(0, MOST_LINES), style.dim(`  … ${more} more lines`)] : lines;
  const whole =
    artifact === undefined ? [] : [style.dim(`  whole output: ${artifact.digest} (${artifact.bytes} bytes)`)];
  return [head, ...reason, ...shown, ...whole];
}

function fileLine({ filename, mediaType }: { readonly filename?: string; readonly mediaType: string }): string {
  return `[file ${visibleLine(filename ?? '', 100)} ${mediaType}]`.replace('  ', ' ');
}

function indent(text: string): readonly string[] {
  if (text === '') return [];
  return visible(text.replace(/\n$/, ''))
    .split('\n')
    .map((line) => `  ${line}`);
}
