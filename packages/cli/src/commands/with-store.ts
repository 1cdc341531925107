import type { PerdureRuntime } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags } from '../config/settings.js';
import { openStore } from '../runtime/open-runtime.js';

/** Runs work on the store of the settings, and closes it. */
export async function withStore(
  { logger }: CliContext,
  flags: PlaceFlags,
  work: (runtime: PerdureRuntime) => Promise<number>,
): Promise<number> {
  const runtime = await openStore(await resolveSettings(flags), logger);
  try {
    return await work(runtime);
  } finally {
    await runtime.dispose();
  }
}
