import type { JsonValue } from '@perdure/events';

/** A set of JSON Schemas by the names of their files. */
export type SchemaSet = Readonly<Record<string, JsonValue>>;

export const breakRules = {
  'schema-removed': 'A type, or a version of it, is there no more.',
  'member-removed': 'A member is there no more; one that was renamed is.',
  'member-required': 'A member is required that facts from before do not have.',
  'member-optional': 'A member may be absent that was always there.',
  'word-removed': 'A word of a list is there no more, and facts from before have it.',
  'variant-removed': 'A variant is there no more, and facts from before have it.',
  'variant-unmarked': 'A variant was added that no word tells from the others.',
  'type-changed': 'A value has another type: facts from before, or readers from before, do not fit.',
  changed: 'Something else about a value was changed.',
} as const;
export type BreakRule = keyof typeof breakRules;

/** A change that breaks a reader, or with which facts from before cannot be read. `path` is where in the schema. */
export interface SchemaBreak {
  readonly schema: string;
  readonly path: string;
  readonly rule: BreakRule;
}

type Members = { readonly [member: string]: JsonValue };

/** They say nothing of which values fit. */
const NOTES = new Set(['title', 'description', '$comment', 'examples', 'readOnly']);
const COMPARED = new Set(['properties', 'required', 'type', 'enum', 'const', 'oneOf', 'anyOf', '$defs', 'items']);

/**
 * What breaks readers between two sets of schemas. Facts that are stored must fit the new one, and readers that were
 * made for the old one must be able to read what is written by the new one, when they pass by the types, members,
 * words and marked variants that they do not know. So these may be added, members as optional ones, and descriptions
 * may change. Everything else is a break, also in keywords that are not known here.
 */
export function schemaBreaks(released: SchemaSet, current: SchemaSet): readonly SchemaBreak[] {
  return Object.entries(released).flatMap(([schema, before]) => {
    const after = current[schema];
    if (after === undefined) return [{ schema, path: '', rule: 'schema-removed' as const }];
    return breaksAt('', before, after).map(([path, rule]) => ({ schema, path, rule }));
  });
}

type Found = readonly [path: string, rule: BreakRule];

function breaksAt(path: string, before: JsonValue, after: JsonValue): readonly Found[] {
  if (!isMembers(before) || !isMembers(after)) return isSame(before, after) ? [] : [[path, 'changed']];
  if (!isSame(before['type'] ?? null, after['type'] ?? null)) return [[path, 'type-changed']];
  return [
    ...memberBreaks(path, before, after),
    ...wordBreaks(path, before, after),
    ...variantBreaks(path, before, after),
    ...definitionBreaks(path, before, after),
    ...itemBreaks(path, before, after),
    ...otherBreaks(path, before, after),
  ];
}

function memberBreaks(path: string, before: Members, after: Members): readonly Found[] {
  const [old, young] = [membersAt(before, 'properties'), membersAt(after, 'properties')];
  const [mustHave, must] = [textsAt(before, 'required'), textsAt(after, 'required')];
  const kept = Object.entries(old).flatMap(([name, schema]): readonly Found[] => {
    const at = `${path}/${name}`;
    const next = young[name];
    if (next === undefined) return [[at, 'member-removed']];
    const optional: Found[] = mustHave.has(name) && !must.has(name) ? [[at, 'member-optional']] : [];
    return [...optional, ...breaksAt(at, schema, next)];
  });
  const demanded = [...must].filter((name) => !mustHave.has(name));
  return [...kept, ...demanded.map((name): Found => [`${path}/${name}`, 'member-required'])];
}

/** A constant is a list of one word. Words may be added to a list; a value of any kind may not become a list. */
function wordBreaks(path: string, before: Members, after: Members): readonly Found[] {
  const [old, young] = [wordsOf(before), wordsOf(after)];
  if (old === undefined && young === undefined) return [];
  if (old === undefined || young === undefined) return [[path, 'changed']];
  return old.filter((word) => !young.includes(word)).map((word): Found => [`${path}=${word}`, 'word-removed']);
}

function variantBreaks(path: string, before: Members, after: Members): readonly Found[] {
  const [old, young] = [variantsOf(before), variantsOf(after)];
  if (old === undefined && young === undefined) return [];
  if (old === undefined || young === undefined) return [[path, 'type-changed']];
  const taken = new Set<JsonValue>();
  const found: Found[] = [];
  for (const [index, variant] of old.entries()) {
    const at = `${path}|${markOf(variant) ?? index}`;
    const next = counterpart(
      variant,
      young.filter((one) => !taken.has(one)),
    );
    if (next === undefined) found.push([at, 'variant-removed']);
    else found.push(...breaksAt(at, variant, next));
    if (next !== undefined) taken.add(next);
  }
  const marks = young.map(markOf);
  const isMarked = marks.every((mark) => mark !== undefined) && new Set(marks).size === marks.length;
  const added = young.filter((variant) => !taken.has(variant));
  if (isMarked) return found;
  return [...found, ...added.map((): Found => [path, 'variant-unmarked'])];
}

/** The variant with the same mark; of those without one, one that does not break, else one of the same type. */
function counterpart(variant: JsonValue, among: readonly JsonValue[]): JsonValue | undefined {
  const mark = markOf(variant);
  if (mark !== undefined) return among.find((one) => markOf(one) === mark);
  const unmarked = among.filter((one) => markOf(one) === undefined);
  return (
    unmarked.find((one) => breaksAt('', variant, one).length === 0) ??
    unmarked.find((one) => typeOf(one) === typeOf(variant))
  );
}

function definitionBreaks(path: string, before: Members, after: Members): readonly Found[] {
  const young = membersAt(after, '$defs');
  return Object.entries(membersAt(before, '$defs')).flatMap(([name, schema]): readonly Found[] => {
    const next = young[name];
    return next === undefined ? [[`${path}#${name}`, 'changed']] : breaksAt(`${path}#${name}`, schema, next);
  });
}

function itemBreaks(path: string, before: Members, after: Members): readonly Found[] {
  const [old, young] = [before['items'], after['items']];
  if (old === undefined && young === undefined) return [];
  if (old === undefined || young === undefined) return [[`${path}[]`, 'changed']];
  return breaksAt(`${path}[]`, old, young);
}

/** All other keywords must stay; those that hold a schema of their own are looked into. */
function otherBreaks(path: string, before: Members, after: Members): readonly Found[] {
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keywords].flatMap((keyword): readonly Found[] => {
    if (NOTES.has(keyword) || COMPARED.has(keyword)) return [];
    const [old, young] = [before[keyword], after[keyword]];
    if (old === undefined || young === undefined) return [[`${path}.${keyword}`, 'changed']];
    if (keyword === 'additionalProperties' || keyword === 'propertyNames') return breaksAt(`${path}{}`, old, young);
    return isSame(old, young) ? [] : [[`${path}.${keyword}`, 'changed']];
  });
}

/** The word by which a reader tells an object of a union from the others. */
function markOf(variant: JsonValue): string | undefined {
  const members = isMembers(variant) ? variant : {};
  const required = textsAt(members, 'required');
  for (const [name, schema] of Object.entries(membersAt(members, 'properties'))) {
    const word = isMembers(schema) ? schema['const'] : undefined;
    if (typeof word === 'string' && required.has(name)) return `${name}=${word}`;
  }
  return undefined;
}

function variantsOf(schema: Members): readonly JsonValue[] | undefined {
  const variants = schema['oneOf'] ?? schema['anyOf'];
  return Array.isArray(variants) ? variants : undefined;
}

function wordsOf(schema: Members): readonly string[] | undefined {
  const words = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  return Array.isArray(words) ? words.map((word) => JSON.stringify(word)) : undefined;
}

function typeOf(schema: JsonValue): string {
  return isMembers(schema) ? JSON.stringify(schema['type'] ?? null) : '';
}

function membersAt(schema: Members, name: string): Members {
  const value = schema[name];
  return isMembers(value) ? value : {};
}

function textsAt(schema: Members, name: string): ReadonlySet<string> {
  const value = schema[name];
  return new Set(Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
}

function isMembers(value: JsonValue | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same JSON, in whatever order its members are. */
function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));
}

function ordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isMembers(value)) return value;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, each]) => [name, ordered(each)]));
}
