import { CLI_COMMANDS, PerdureError } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags } from '../config/settings.js';
import { openStore } from '../runtime/open-runtime.js';
import { visible } from '../terminal/visible.js';
import { jsonSafe } from '../terminal/json-text.js';

export interface RelayFlags extends PlaceFlags {
  readonly prefix?: string;
  readonly session?: string;
  readonly tenant?: string;
  readonly once?: boolean;
}

/**
 * `perdure relay NAME`, by the command `relay` of a plugin of the configuration. Throws PERDURE_CONFIGURATION when none
 * has one.
 */
export async function relayCommand(context: CliContext, name: string, flags: RelayFlags): Promise<number> {
  const { screen, json, logger } = context;
  const runtime = await openStore(await resolveSettings(flags), logger, [CLI_COMMANDS]);
  try {
    const command = runtime.services.container.get(CLI_COMMANDS).find((known) => known.name === 'relay');
    if (command === undefined) {
      const reason = 'none of them relays; add one that does, such as @perdure/relay-kafka';
      throw new PerdureError('PERDURE_CONFIGURATION', { field: 'plugins', reason });
    }
    return await command.run([name, ...argumentsOf(flags), ...(json ? ['--json'] : [])], {
      out: (text) => void screen.out.write(json ? jsonSafe(text) : visible(text)),
      error: (text) => void screen.error.write(visible(text)),
    });
  } finally {
    await runtime.dispose();
  }
}

function argumentsOf({ prefix, session, tenant, once }: RelayFlags): readonly string[] {
  const texts = Object.entries({ prefix, session, tenant });
  const given = texts.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  return once === true ? [...given, '--once'] : given;
}
