import { catalogue, coreDefinition, coreTypes } from './catalogue.js';
import { isPluginType, type EventDefinition } from './define-event.js';
import type { JsonValue } from './json.js';
import { factMetadata, type FactMetadata } from './metadata.js';

/** A fact as a store returns it. `position` is opaque, of fixed width, and sorts as text. */
export interface RecordedFact {
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
  readonly id: string;
  readonly type: string;
  /** JSON text, byte for byte as it was appended. */
  readonly payload: string;
  readonly metadata: string;
}

/** Bridges one version of a fact's payload to the next. Pure; stored bytes are never changed. */
export interface Upcaster {
  readonly type: string;
  readonly from: number;
  readonly upcast: (payload: JsonValue) => JsonValue;
}

/**
 * How this build understands a stored fact.
 *
 * `known` is folded; `opaque` is a plugin's fact without its plugin, kept and shown; `newer` is a core fact that this
 * build must not run past, and so is an essential fact of a missing plugin.
 */
export type ReadFact =
  | { readonly kind: 'known'; readonly type: string; readonly payload: unknown }
  | { readonly kind: 'opaque' | 'newer'; readonly type: string; readonly version: number; readonly payload: JsonValue };

/** The facts that a build knows: the core's, and those of the plugins that are loaded. */
export class FactRegistry {
  private readonly definitions = new Map<string, EventDefinition>();
  private readonly upcasters = new Map<string, Upcaster>();

  constructor(plugins: readonly EventDefinition[] = [], upcasters: readonly Upcaster[] = []) {
    for (const type of coreTypes) this.definitions.set(type, coreDefinition(type));
    for (const definition of plugins) {
      if (!isPluginType(definition.type))
        throw new TypeError(`A plugin's fact is named <plugin>/<Type>, not ${definition.type}.`);
      if (this.definitions.has(definition.type)) throw new TypeError(`Two plugins define the fact ${definition.type}.`);
      this.definitions.set(definition.type, definition);
    }
    for (const upcaster of upcasters) {
      const key = `${upcaster.type}@${upcaster.from}`;
      if (this.upcasters.has(key)) throw new TypeError(`Two upcasters start from ${key}.`);
      this.upcasters.set(key, upcaster);
    }
  }

  definition(type: string): EventDefinition | undefined {
    return this.definitions.get(type);
  }

  /**
   * Parses a stored fact and brings it to the version that this build folds. Throws a SyntaxError on text that is no
   * JSON.
   */
  read(fact: RecordedFact): ReadFact {
    const payload = JSON.parse(fact.payload) as JsonValue;
    const definition = this.definitions.get(fact.type);
    const version = schemaVersionOf(fact.metadata);
    if (definition === undefined) {
      const mustKnow = !isPluginType(fact.type) || readMetadata(fact.metadata).essential === true;
      return { kind: mustKnow ? 'newer' : 'opaque', type: fact.type, version, payload };
    }
    if (version === definition.version) return { kind: 'known', type: fact.type, payload };
    if (version > definition.version) {
      return { kind: isPluginType(fact.type) ? 'opaque' : 'newer', type: fact.type, version, payload };
    }
    return { kind: 'known', type: fact.type, payload: this.upcast(fact.type, version, definition.version, payload) };
  }

  /** Whether a stored fact is of a type and version that this build writes itself: its payload is what `read` gives. */
  isCurrent(fact: Pick<RecordedFact, 'type' | 'metadata'>): boolean {
    return this.definitions.get(fact.type)?.version === schemaVersionOf(fact.metadata);
  }

  /**
   * What a fold depends on: every type with its version, and every upcaster. Two builds with equal lists fold alike.
   */
  description(): readonly string[] {
    const types = Array.from(this.definitions.values(), ({ type, version }) => `${type}@${version}`);
    return [...types, ...Array.from(this.upcasters.keys(), (key) => `upcast ${key}`)].sort();
  }

  private upcast(type: string, from: number, to: number, payload: JsonValue): JsonValue {
    let result = payload;
    for (let version = from; version < to; version++) {
      const upcaster = this.upcasters.get(`${type}@${version}`);
      if (upcaster === undefined) throw new TypeError(`No upcaster leads from ${type}@${version} to version ${to}.`);
      result = upcaster.upcast(result);
    }
    return result;
  }
}

/** Parses a metadata text. Throws a SyntaxError or a ZodError on text that is no metadata. */
export function readMetadata(metadata: string): FactMetadata {
  return factMetadata.parse(JSON.parse(metadata));
}

const VERSION_MEMBER = '"schemaVersion":';

/** The writer puts `schemaVersion` right before the hashes, so that a fold need not parse the metadata for it. */
function schemaVersionOf(metadata: string): number {
  const at = metadata.lastIndexOf(VERSION_MEMBER);
  const version = at < 0 ? Number.NaN : Number.parseInt(metadata.slice(at + VERSION_MEMBER.length, at + 30), 10);
  return Number.isInteger(version) ? version : readMetadata(metadata).schemaVersion;
}

/** Wire types of all core facts. */
export const wireTypes: readonly string[] = [...new Set(Object.values(catalogue).flatMap((event) => event.wire.types))];
