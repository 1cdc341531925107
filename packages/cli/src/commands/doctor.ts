import { EVENT_STORE, PerdureError } from '@perdure/plugin-api';
import { providedTokens } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import type { ModelFlags } from '../config/model-endpoint.js';
import { resolveSettings, type PlaceFlags, type Settings } from '../config/settings.js';
import { acceptLoss } from '../doctor/accept-loss.js';
import { checkConfigFile, checkPlugins, checkRules } from '../doctor/check-config.js';
import { checkNode, checkRipgrep, checkSqlite } from '../doctor/check-machine.js';
import { checkModel } from '../doctor/check-model.js';
import { checkSandbox } from '../doctor/check-sandbox.js';
import { checkStateFolder, checkStore } from '../doctor/check-store.js';
import { failed, ok, type Check } from '../doctor/check.js';
import { exitCodes } from '../exit-code.js';
import { storeFile } from '../runtime/store-place.js';
import { jsonText } from '../terminal/json-text.js';
import { visibleLine } from '../terminal/visible.js';

export interface DoctorFlags extends PlaceFlags, ModelFlags {
  readonly acceptLoss?: boolean;
  readonly yes?: boolean;
}

/** `perdure doctor`: what runs need, each on a line with its fix. */
export async function doctor(context: CliContext, flags: DoctorFlags): Promise<number> {
  if (flags.acceptLoss === true) {
    const settings = await resolveSettings(flags);
    if (settings.hasStoreServer) {
      throw new PerdureError('PERDURE_CONFIGURATION', { field: '--accept-loss', reason: 'it is for stores in files' });
    }
    return acceptLoss(context, storeFile(settings, context.environment), flags.yes === true);
  }
  let worst: number = exitCodes.completed;
  const checks: Check[] = [];
  for await (const check of runChecks(context, flags)) {
    checks.push(check);
    if (check.level === 'fail' && worst === exitCodes.completed) worst = check.exitCode ?? exitCodes.failed;
    if (!context.json) await show(check, context);
  }
  if (context.json) await context.screen.out.line(jsonText(checks));
  return worst;
}

async function* runChecks(context: CliContext, flags: DoctorFlags): AsyncGenerator<Check> {
  yield checkNode();
  yield await checkSqlite();
  yield await checkRipgrep();
  let settings: Settings;
  try {
    settings = await resolveSettings(flags);
  } catch (error) {
    yield failed('config', error, 'Correct the configuration file, or name another one with --config.');
    return;
  }
  yield checkConfigFile(settings);
  const plugins = await checkPlugins(settings);
  yield plugins;
  if (plugins.level === 'fail') return;
  yield await checkRules(settings);
  yield await checkSandbox(settings);
  const provider = (await providedTokens(settings.plugins, settings.pluginRoot)).get(EVENT_STORE.name);
  if (provider === undefined) {
    const file = storeFile(settings, context.environment);
    yield checkStateFolder(file, settings.workspace);
    yield await checkStore(file);
  } else yield ok('store', `that of ${provider}, which is opened by runs alone`);
  yield await checkModel(settings, flags, context.environment);
}

async function show({ level, name, message, fix }: Check, { screen: { out, outStyle } }: CliContext): Promise<void> {
  const paint = { ok: outStyle.green, warn: outStyle.yellow, fail: outStyle.red }[level];
  await out.line(`${paint(level.padEnd(4))}  ${name.padEnd(8)} ${visibleLine(message, 1_000)}`);
  if (fix !== undefined) await out.line(`      ${' '.repeat(8)} → ${fix}`);
}
