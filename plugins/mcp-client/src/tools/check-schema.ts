import { z } from 'zod';
import { isHostilePattern } from './hostile-pattern.js';
import { safeText } from './safe-text.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

const MOST_CHARACTERS = 64 * 1024;
const MOST_NODES = 5_000;
const DEEPEST = 40;
const LONGEST_DESCRIPTION = 1_024;
const POISONED = new Set(['__proto__', 'constructor', 'prototype']);
const POINTERS_ELSEWHERE = ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor'];
/** They mean nothing to models, and pull schemas together that have nothing to do with each other. */
const LEFT_OUT = new Set(['$schema', '$id', 'id', '$comment']);
/** Members that hold schemas by name: their keys are words of the server's own. */
const OF_SCHEMAS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Members that hold plain values. */
const OF_VALUES = new Set(['const', 'enum', 'default', 'examples', 'required']);

/** The arguments of a tool as models are told of them and calls are checked with. */
export interface ArgumentSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'perdure-mcp';
    validate(
      value: unknown,
    ): { readonly value: unknown } | { readonly issues: readonly { message: string; path: readonly PropertyKey[] }[] };
    readonly jsonSchema: { input(): unknown };
  };
}

/** Why a schema cannot be used. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/**
 * Checks a schema that nobody vouches for and takes it over. Throws SchemaRefused for one that is too large or deep,
 * refers in a circle or elsewhere, or holds what can harm who reads it.
 */
export function checkSchema(given: unknown): ArgumentSchema {
  if (!isObject(given)) throw new SchemaRefused('its input schema is no object');
  const walk: Walk = { nodes: 0, root: given };
  visit(given, 0, walk);
  if (JSON.stringify(given).length > MOST_CHARACTERS) {
    throw new SchemaRefused(`its input schema is longer than ${MOST_CHARACTERS} characters`);
  }
  if (given['type'] !== 'object') throw new SchemaRefused('its input schema is not of type object');
  checkReferences(given);
  const shown = copy(given, false);
  const check = validator(copy(given, true));
  return {
    '~standard': { version: 1, vendor: 'perdure-mcp', validate: check, jsonSchema: { input: () => shown } },
  };
}

interface Walk {
  nodes: number;
  readonly root: JsonObject;
}

/** Counts before anything that recurses without a limit sees the value. */
function visit(value: unknown, depth: number, walk: Walk): void {
  if (depth > DEEPEST) throw new SchemaRefused(`its input schema is deeper than ${DEEPEST} levels`);
  if ((walk.nodes += 1) > MOST_NODES) throw new SchemaRefused(`its input schema has more than ${MOST_NODES} members`);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) visit(item, depth + 1, walk);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (POISONED.has(key)) throw new SchemaRefused(`its input schema has a member "${key}"`);
    if (POINTERS_ELSEWHERE.includes(key)) throw new SchemaRefused(`its input schema uses ${key}`);
    if (key === 'pattern' && typeof member === 'string') checkPattern(member);
    if (key === 'patternProperties' && isObject(member))
      for (const pattern of Object.keys(member)) checkPattern(pattern);
    visit(member, depth + 1, walk);
  }
}

function checkPattern(pattern: string): void {
  if (isHostilePattern(pattern)) throw new SchemaRefused('its input schema has a pattern that could take for ever');
}

/** Each reference leads to a place in the schema, and none back to where it stands. */
function checkReferences(root: JsonObject): void {
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const follow = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || done.has(value)) return;
    if (open.has(value)) throw new SchemaRefused('its input schema refers to itself in a circle');
    open.add(value);
    for (const member of Object.values(value)) follow(member);
    const reference: unknown = Array.isArray(value) ? undefined : (value as JsonObject)['$ref'];
    if (typeof reference === 'string') follow(targetOf(reference, root));
    open.delete(value);
    done.add(value);
  };
  follow(root);
}

function targetOf(reference: string, root: JsonObject): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new SchemaRefused('its input schema refers to another document');
  }
  let at: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const found: unknown = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    if (found === undefined) throw new SchemaRefused(`its input schema refers to "${reference}", which is not there`);
    at = found;
  }
  return at;
}

/**
 * The schema without what is of no use: for models with clean descriptions, for checks without patterns, which the
 * server checks itself.
 */
function copy(value: Json, forChecks: boolean): Json {
  if (Array.isArray(value)) return value.map((item: Json) => copy(item, forChecks));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    if (LEFT_OUT.has(key) && typeof member === 'string') return [];
    if (forChecks && (key === 'pattern' || key === 'patternProperties' || key === 'format')) return [];
    if ((key === 'description' || key === 'title') && typeof member === 'string') {
      return [[key, safeText(member, LONGEST_DESCRIPTION)]];
    }
    if (OF_VALUES.has(key)) return [[key, member]];
    if (OF_SCHEMAS.has(key) && isObject(member)) {
      return [
        [key, Object.fromEntries(Object.entries(member).map(([name, schema]) => [name, copy(schema, forChecks)]))],
      ];
    }
    return [[key, copy(member, forChecks)]];
  });
  return Object.fromEntries(entries);
}

/** What this build cannot check, the server checks alone. */
function validator(schema: Json): ArgumentSchema['~standard']['validate'] {
  const shape = readable(schema) ?? z.record(z.string(), z.unknown());
  return (value) => {
    const result = shape.safeParse(value);
    // The server fills in its own defaults.
    if (result.success) return { value };
    return { issues: result.error.issues.map(({ message, path }) => ({ message, path })) };
  };
}

function readable(schema: Json): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
