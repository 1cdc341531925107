import type { z } from 'zod';
import { budgetCatalogue } from './budget.js';
import { catalogue } from './catalogue.js';
import { eventEnvelopeV1 } from './envelope.js';
import { sessionSnapshotV1 } from './exchange/snapshot.js';

/** What the schemas of facts, envelopes and snapshots fix: a text in such a place is no free value. */
export interface FormatWords {
  /** Names of members, types, and values that are listed one by one. */
  readonly words: readonly string[];
  /** Names of the members that hold any JSON value. Every other number is one of the format. */
  readonly openMembers: ReadonlySet<string>;
}

/** The parts of a schema that are looked at, as zod describes them. */
interface Definition {
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly options?: readonly z.ZodType[];
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly values?: readonly unknown[];
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
}

let known: FormatWords | undefined;

/** Collected from the schemas themselves, once. */
export function formatWords(): FormatWords {
  known ??= collected();
  return known;
}

function collected(): FormatWords {
  const words = new Set<string>();
  const openMembers = new Set<string>();
  const seen = new Set<z.ZodType>();
  const look = (schema: z.ZodType): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const { shape, options = [], entries = {}, values = [], ...def } = schema.def as Definition;
    for (const value of [...values, ...Object.values(entries)]) if (typeof value === 'string') words.add(value);
    for (const [name, member] of Object.entries(shape ?? {})) {
      words.add(name);
      if (isOpen(member)) openMembers.add(name);
      look(member);
    }
    for (const part of [...options, ...innerOf(def)]) look(part);
  };
  for (const { type, schema } of [...Object.values(catalogue), ...Object.values(budgetCatalogue)]) {
    words.add(type);
    look(schema);
  }
  look(eventEnvelopeV1);
  look(sessionSnapshotV1);
  return { words: [...words], openMembers };
}

/** Whether a schema takes any JSON value, alone, in a list or by names. */
function isOpen({ def }: z.ZodType): boolean {
  return def.type === 'unknown' || innerOf(def as Definition).some(isOpen);
}

function innerOf({ element, innerType, keyType, valueType }: Definition): readonly z.ZodType[] {
  return [element, innerType, keyType, valueType].filter((part) => part !== undefined);
}
