import { secretsOf } from '@perdure/core';
import { PerdureError, type McpServerStatus } from '@perdure/plugin-api';
import { inspectServer } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';
import { visibleLine } from '../terminal/visible.js';

/** `perdure mcp list`: the servers of the configuration, without the values that they are given. */
export async function mcpList(context: CliContext, flags: PlaceFlags): Promise<number> {
  const { config } = await resolveSettings(flags);
  const listed = Object.entries(config.mcp?.servers ?? {}).map(([name, setting]) => listedServer(name, setting));
  const { out, outStyle } = context.screen;
  if (context.json) {
    await out.line(jsonText(listed));
    return exitCodes.completed;
  }
  const rows = listed.map(({ name, transport, target, trust, enabled }) => [
    name,
    transport,
    enabled ? trust : 'disabled',
    visibleLine(target, 200),
  ]);
  const width = out.isTerminal ? out.width : Number.POSITIVE_INFINITY;
  const [head = '', ...lines] = formatTable([['NAME', 'TRANSPORT', 'TRUST', 'TARGET'], ...rows], width);
  await out.line(outStyle.bold(head));
  for (const line of lines) await out.line(line);
  return exitCodes.completed;
}

function listedServer(name: string, setting: unknown) {
  const { url, command, args, trust, enabled } = (setting ?? {}) as Readonly<Record<string, unknown>>;
  const program = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
  return {
    name,
    transport: url === undefined ? 'stdio' : 'http',
    target: url === undefined ? program.map(String).join(' ') : String(url),
    trust: typeof trust === 'string' ? trust : 'none',
    enabled: enabled !== false,
  };
}

/** `perdure mcp doctor [NAME]`: connects to the servers, and says what each offers or why it cannot be used. */
export async function mcpDoctor(context: CliContext, name: string | undefined, flags: PlaceFlags): Promise<number> {
  const { config } = await resolveSettings(flags);
  const servers = Object.entries(config.mcp?.servers ?? {}).filter(([each]) => name === undefined || each === name);
  if (name !== undefined && servers.length === 0) throw unknownServer(name);
  const secrets = secretsOf(config.secrets);
  const found: McpServerStatus[] = [];
  for (const [each, setting] of servers) {
    const status = await inspectServer(each, setting, secrets);
    found.push(status);
    if (!context.json) await show(status, context);
  }
  if (context.json) await context.screen.out.line(jsonText(found));
  return found.some(({ state }) => state === 'failed') ? exitCodes.failed : exitCodes.completed;
}

export function unknownServer(name: string): PerdureError {
  const reason = 'the configuration has no such server';
  return new PerdureError('PERDURE_CONFIGURATION', { field: `mcp.servers.${name}`, reason });
}

async function show(status: McpServerStatus, { screen: { out, outStyle } }: CliContext): Promise<void> {
  const { name, state, reason, tools, problems, protocolVersion, software } = status;
  if (state === 'disabled') return out.line(`${outStyle.yellow('off ')}  ${name}`);
  if (state !== 'ready') return out.line(`${outStyle.red('fail')}  ${name}  ${visibleLine(reason ?? '', 500)}`);
  const said = [`protocol ${protocolVersion}`, visibleLine(software ?? '', 100), `${tools.length} tools`];
  await out.line(`${outStyle.green('ok  ')}  ${name}  ${said.join(', ')}`);
  for (const tool of tools) await out.line(`      ${tool}`);
  for (const problem of problems) {
    await out.line(`${outStyle.yellow('warn')}  ${visibleLine(problem.tool, 80)}: ${visibleLine(problem.reason, 200)}`);
  }
}
