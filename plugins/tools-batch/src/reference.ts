import type { JsonValue } from '@perdure/events';

/** Points into the result of an earlier invocation: `<id>.output.<path>`. */
export interface Reference {
  readonly id: string;
  /** Members and positions, from the output inwards. */
  readonly path: readonly string[];
}

/** Bytes of JSON that a reference may stand for. */
export const LARGEST_REFERENCE = 16 * 1024;

/** All references in a value, in their order. Throws TypeError for one that cannot be read. */
export function* referencesIn(value: JsonValue): Generator<Reference> {
  if (typeof value !== 'object' || value === null) return;
  const reference = referenceOf(value);
  if (reference !== undefined) yield reference;
  else for (const member of Object.values(value)) yield* referencesIn(member as JsonValue);
}

/** The value with what its references stand for. Throws ReferenceError for one that stands for nothing. */
export function resolveReferences(value: JsonValue, outputOf: (id: string) => JsonValue | undefined): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  const reference = referenceOf(value);
  if (reference !== undefined) return lookUp(reference, outputOf);
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, outputOf));
  const members = Object.entries(value).map(([name, member]) => [name, resolveReferences(member, outputOf)] as const);
  return Object.fromEntries(members);
}

function referenceOf(value: object): Reference | undefined {
  const { $ref: text } = value as { readonly $ref?: unknown };
  if (Object.keys(value).length !== 1 || typeof text !== 'string') return undefined;
  const [id = '', output, ...path] = text.split('.');
  // Anything else with this key is an argument like any other.
  return output === 'output' ? { id, path } : undefined;
}

function lookUp({ id, path }: Reference, outputOf: (id: string) => JsonValue | undefined): JsonValue {
  let value = outputOf(id);
  for (const name of path) value = memberOf(value, name);
  const where = [id, 'output', ...path].join('.');
  if (value === undefined) throw new ReferenceError(`"${where}" stands for nothing`);
  if (Buffer.byteLength(JSON.stringify(value)) > LARGEST_REFERENCE) {
    throw new ReferenceError(`"${where}" stands for more than ${LARGEST_REFERENCE} bytes`);
  }
  return value;
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, JsonValue>>)[name] : undefined;
}
