import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Answers, Question, QuestionOption } from '@perdure/events';
import type { QuestionSet } from '@perdure/plugin-api';
import { safeText } from '../tools/safe-text.js';

const LONGEST_MESSAGE = 4_000;
const LONGEST_LABEL = 300;
const LONGEST_DESCRIPTION = 1_000;
const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

type Value = string | number | boolean | string[];

/** What a server wants to know, as questions, and their answers as what the server gets. */
export interface Form {
  readonly questions: QuestionSet;
  /** `undefined` when an answer is not what the server offered: it held something that is not kept. */
  content(answers: Answers): Readonly<Record<string, Value>> | undefined;
}

interface Field {
  readonly id: string;
  readonly name: string;
  readonly schema: PrimitiveSchemaDefinition;
  readonly isRequired: boolean;
}

/** All texts of a form are the server's, and are shown without what could hide in them. */
export function formOf(server: string, { message, requestedSchema }: ElicitRequestFormParams): Form {
  const { properties, required = [] } = requestedSchema;
  const names = Object.keys(properties);
  const fields = Object.entries(properties).map(([name, schema], index): Field => {
    const isId = ID.test(name) && !/^field_\d+$/.test(name);
    return { id: isId ? name : `field_${index + 1}`, name, schema, isRequired: required.includes(name) };
  });
  const title = `"${server}" asks: ${safeText(message, LONGEST_MESSAGE)}`;
  const questions = names.length === 0 ? [agreement] : fields.map(questionOf);
  return { questions: { title, questions }, content: (answers) => contentOf(fields, answers) };
}

/** A form without fields asks for nothing but to go on. */
const agreement: Question = {
  kind: 'single-select',
  id: 'agreed',
  prompt: 'Go on?',
  options: [{ value: 'yes', label: 'Yes' }],
};

function questionOf({ id, name, schema, isRequired }: Field): Question {
  const isOptional = !isRequired || schema.default !== undefined;
  const about = { id, prompt: promptOf(name, schema), ...(isOptional ? { isOptional: true as const } : {}) };
  if (schema.type === 'boolean') return { kind: 'single-select', ...about, options: yesAndNo };
  if (schema.type === 'array') {
    const { minItems, maxItems } = schema;
    const min = bound(minItems, Math.ceil, 0) ?? (isOptional ? undefined : 0);
    const max = bound(maxItems, Math.floor, 1);
    const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
    return { kind: 'multi-select', ...about, options: optionsOf(schema), ...bounds };
  }
  if (schema.type !== 'string') {
    const { type: format, minimum, maximum } = schema;
    const bounds = { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
    return { kind: 'text', ...about, format, ...bounds };
  }
  const options = optionsOf(schema);
  if (options.length > 0) return { kind: 'single-select', ...about, options };
  const { format, minLength, maxLength } = schema as { format?: Format; minLength?: number; maxLength?: number };
  const least = bound(minLength, Math.ceil, 0);
  const most = bound(maxLength, Math.floor, 1);
  return {
    kind: 'text',
    ...about,
    ...(format === undefined ? {} : { format }),
    ...(least === undefined ? {} : { minLength: least }),
    ...(most === undefined ? {} : { maxLength: most }),
  };
}

type Format = 'email' | 'uri' | 'date' | 'date-time';

const yesAndNo: QuestionOption[] = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

function promptOf(name: string, { title, description, default: given }: PrimitiveSchemaDefinition): string {
  const label = safeText(title ?? name, LONGEST_LABEL).trim() || 'A value';
  const about = safeText(description ?? '', LONGEST_DESCRIPTION).trim();
  const without = given === undefined ? '' : ` (without an answer: ${safeText(JSON.stringify(given), LONGEST_LABEL)})`;
  return `${label}${about === '' ? '' : `: ${about}`}${without}`;
}

/** A bound as questions have them; one that is none is left away. */
function bound(value: number | undefined, whole: (value: number) => number, least: number): number | undefined {
  if (value === undefined) return undefined;
  const rounded = Math.max(least, whole(value));
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/** What may be chosen, in all the ways in which a schema may say it; nothing for one of a free text. */
function optionsOf(schema: PrimitiveSchemaDefinition): QuestionOption[] {
  const from = schema.type === 'array' ? schema.items : schema;
  const titled = 'oneOf' in from ? from.oneOf : 'anyOf' in from ? from.anyOf : undefined;
  if (titled !== undefined) return titled.map(({ const: value, title }) => option(value, title));
  if (!('enum' in from)) return [];
  const { enumNames: labels = [] } = from as { readonly enumNames?: readonly string[] };
  return from.enum.map((value, index) => option(value, labels[index] ?? value));
}

function option(value: string, label: string): QuestionOption {
  return { value, label: safeText(label, LONGEST_LABEL).trim() || safeText(value, LONGEST_LABEL) };
}

function contentOf(fields: readonly Field[], answers: Answers): Readonly<Record<string, Value>> | undefined {
  const content: [string, Value][] = [];
  for (const { id, name, schema } of fields) {
    const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
    if (answer === undefined) {
      if (schema.default !== undefined) content.push([name, schema.default]);
      continue;
    }
    const value = valueOf(schema, answer);
    if (value === undefined) return undefined;
    content.push([name, value]);
  }
  return Object.fromEntries(content);
}

function valueOf(schema: PrimitiveSchemaDefinition, answer: string | string[]): Value | undefined {
  if (schema.type === 'boolean') return answer === 'true';
  if (schema.type === 'integer' || schema.type === 'number') return Number(answer);
  const offered = optionsOf(schema).map(({ value }) => value);
  const chosen = Array.isArray(answer) ? answer : [answer];
  return offered.length === 0 || chosen.every((each) => offered.includes(each)) ? answer : undefined;
}
