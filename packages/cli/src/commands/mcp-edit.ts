import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PerdureError } from '@perdure/plugin-api';
import { checkMcpServer } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { unknownServer } from './mcp.js';

export interface McpAddFlags extends PlaceFlags {
  readonly url?: string;
  readonly variable: readonly string[];
  readonly header: readonly string[];
  readonly trust?: 'none' | 'hints';
}

type Members = Record<string, unknown>;

/** `perdure mcp add NAME -- COMMAND …` or `--url URL`: writes a server into the configuration, when it is one. */
export async function mcpAdd(
  context: CliContext,
  name: string,
  [command, ...args]: readonly string[],
  flags: McpAddFlags,
): Promise<number> {
  const { url, trust } = flags;
  if ((command === undefined) === (url === undefined)) {
    throw invalid(name, 'give a command behind "--", or an address with --url');
  }
  const unfit = url === undefined ? flags.header : flags.variable;
  if (unfit.length > 0) throw invalid(name, `${url === undefined ? '--header' : '--variable'} is not for this kind`);
  const given = pairs(name, url === undefined ? flags.variable : flags.header);
  const setting = {
    ...(url === undefined ? { command, args } : { url }),
    ...(Object.keys(given).length === 0 ? {} : { [url === undefined ? 'variables' : 'headers']: given }),
    ...(trust === undefined ? {} : { trust }),
  };
  checkMcpServer(name, setting);
  const file = await edit(flags, name, (servers, place) => {
    if (Object.hasOwn(servers, name)) throw invalid(name, `there is one in ${place}; remove it first`);
    servers[name] = setting;
  });
  await context.screen.out.line(`added ${name} to ${file}`);
  return exitCodes.completed;
}

/** `perdure mcp remove NAME`: takes a server out of the configuration. */
export async function mcpRemove(context: CliContext, name: string, flags: PlaceFlags): Promise<number> {
  const file = await edit(flags, name, (servers) => {
    if (!Object.hasOwn(servers, name)) throw unknownServer(name);
    delete servers[name];
  });
  await context.screen.out.line(`removed ${name} from ${file}`);
  return exitCodes.completed;
}

/** Writes the file whole or not at all; a configuration that is code is for its author to change. */
async function edit(
  flags: PlaceFlags,
  name: string,
  change: (servers: Members, file: string) => void,
): Promise<string> {
  const { workspace, configFile } = await resolveSettings(flags);
  const file = configFile ?? join(workspace, 'perdure.config.json');
  if (!file.endsWith('.json')) throw invalid(name, `${file} is code, and no command changes it`);
  const config = configFile === undefined ? {} : (JSON.parse(await readFile(file, 'utf8')) as Members);
  const mcp = (config['mcp'] ?? {}) as Members;
  const servers = { ...(mcp['servers'] as Members | undefined) };
  change(servers, file);
  const text = `${JSON.stringify({ ...config, mcp: { ...mcp, servers } }, undefined, 2)}\n`;
  const made = `${file}.${process.pid}.new`;
  await writeFile(made, text, { flag: 'wx' });
  await rename(made, file);
  return file;
}

function pairs(name: string, texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw invalid(name, `"${text}" is not NAME=VALUE`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

function invalid(name: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: `mcp.servers.${name}`, reason });
}
