import { z } from 'zod';

/**
 * An environment variable as facts know it: its name, and what tells one value from another without giving it away.
 * `digest` is `sha256:<64 hex>` of the salt, the name and the value, each followed by a NUL character. The value is
 * with the host.
 */
export const variable = z.strictObject({ name: z.string(), salt: z.string(), digest: z.string() });
export type Variable = z.output<typeof variable>;
