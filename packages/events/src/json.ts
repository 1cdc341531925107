import { z } from 'zod';

/** A value that survives JSON unchanged. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/**
 * Any JSON value. The schema looks no deeper: values enter facts through the runtime, which normalises them first, and
 * a deep check would cost more than everything else that is done to a fact.
 */
export const jsonValue = z.unknown().meta({ id: 'JsonValue' }) as unknown as z.ZodType<JsonValue>;

/** Provider data that must go back to the provider as it came (signatures of reasoning, for one). */
export const providerMetadata = z.record(z.string(), jsonValue).meta({ id: 'ProviderMetadata' });
export type ProviderMetadata = z.output<typeof providerMetadata>;
