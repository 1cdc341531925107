import type { Question } from '@perdure/events';
import type { ApprovalInteraction, Interaction, QuestionInteraction } from '@perdure/plugin-api';
import { callLabel } from './call-label.js';
import { visible } from './visible.js';

/** What waits for a person, as one line, and below it the questions with what they take as an answer. */
export function describeInteraction(interaction: Interaction): string {
  return interaction.kind === 'approval' ? describeApproval(interaction) : describeQuestions(interaction);
}

function describeApproval({ id, tool, input, reason, suggestion, expiresAt }: ApprovalInteraction): string {
  const parts = [
    visible(id),
    callLabel(tool, input, 200),
    ...(reason === null ? [] : [`because ${visible(reason)}`]),
    ...(suggestion === null ? [] : [`(--allow '${visible(suggestion)}' would allow it)`]),
    ...untilText(expiresAt),
  ];
  return parts.join('  ');
}

function describeQuestions({ id, tool, title, questions, expiresAt }: QuestionInteraction): string {
  const head = [
    visible(id),
    `${visible(tool)} asks`,
    ...(title === null ? [] : [visible(title)]),
    ...untilText(expiresAt),
  ];
  return [head.join('  '), ...questions.flatMap(questionLines)].join('\n');
}

function questionLines(question: Question): readonly string[] {
  const { id, prompt } = question;
  const asked = `  ${visible(id)}: ${visible(prompt)}  (${takes(question)})`;
  if (question.kind === 'text') return [asked];
  const options = question.options.map(({ value, label, description }) => {
    const more = description === undefined ? '' : `: ${visible(description)}`;
    return `    ${visible(value)}${label === value ? '' : `  ${visible(label)}`}${more}`;
  });
  return [asked, ...options];
}

/** What counts as an answer, in words. */
function takes(question: Question): string {
  const parts = [
    question.kind === 'text' ? textOf(question) : question.kind === 'single-select' ? 'one of' : many(question),
  ];
  if (question.kind !== 'text' && question.allowFreeText) parts.push('or a text of your own');
  if (question.isOptional) parts.push('may be left out');
  return parts.join(', ');
}

function textOf({ format, minLength, maxLength, minimum, maximum }: Extract<Question, { kind: 'text' }>): string {
  const from = minimum ?? minLength;
  const to = maximum ?? maxLength;
  const bounds = [...(from === undefined ? [] : [`at least ${from}`]), ...(to === undefined ? [] : [`at most ${to}`])];
  const unit = format === 'integer' || format === 'number' || bounds.length === 0 ? '' : ' characters';
  return [format ?? 'a text', ...(bounds.length === 0 ? [] : [`${bounds.join(', ')}${unit}`])].join(', ');
}

function many({ min, max }: Extract<Question, { kind: 'multi-select' }>): string {
  if (min !== undefined && max !== undefined) return min === max ? `${min} of` : `${min} to ${max} of`;
  if (min !== undefined) return `at least ${min} of`;
  return max === undefined ? 'any of' : `at most ${max} of`;
}

function untilText(expiresAt: number | null): readonly string[] {
  return expiresAt === null ? [] : [`until ${new Date(expiresAt).toISOString()}`];
}
