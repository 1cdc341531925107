import type { z } from 'zod';
import type { Lane } from './metadata.js';
import { wireRule, type SingleWireRule, type WireRule } from './wire.js';

/**
 * One type of fact.
 *
 * `version` grows when the payload's shape changes in a way that an upcaster must bridge. `isDetail` marks facts that
 * matter only while their step is open, and to auditors: a store may keep them apart, and a session is opened without
 * those of closed steps.
 */
export interface EventDefinition<Type extends string = string, Payload = unknown> {
  readonly type: Type;
  readonly version: number;
  readonly lane: Lane;
  readonly schema: z.ZodType<Payload>;
  readonly wire: WireRule<Payload>;
  isDetail?(payload: Payload): boolean;
}

/** Declares a fact. Plugins use it too, with a type `<plugin>/<Type>`. */
export function defineEvent<const Type extends string, Schema extends z.ZodType>(definition: {
  readonly type: Type;
  readonly version: number;
  readonly lane: Lane;
  readonly schema: Schema;
  readonly wire: WireRule<z.output<Schema>> | SingleWireRule<z.output<Schema>>;
  readonly isDetail?: (payload: z.output<Schema>) => boolean;
}): EventDefinition<Type, z.output<Schema>> {
  const wire = wireRule<z.output<Schema>>(definition.wire);
  return { ...definition, wire } as unknown as EventDefinition<Type, z.output<Schema>>;
}

/** Types of the core have no slash; a plugin's are `<plugin>/<Type>`. */
export function isPluginType(type: string): boolean {
  return type.includes('/');
}
