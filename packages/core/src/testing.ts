import type { PluginLike } from '@perdure/plugin-api';
import { createRuntime, type PerdureRuntime } from './create-runtime.js';
import type { RuntimeOptions } from './host/runtime-options.js';

/** A runtime for tests: the plugins given, quick to notice dead nodes, and silent. */
export function createTestRuntime(
  options: RuntimeOptions & { readonly plugins: readonly PluginLike[] },
): Promise<PerdureRuntime> {
  return createRuntime({ logger: { log: () => undefined }, leaseTtlMs: 1_000, closeGraceMs: 200 }, options);
}
