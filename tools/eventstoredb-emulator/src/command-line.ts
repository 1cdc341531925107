import { parseArgs } from 'node:util';
import type { Users } from './access/access.js';

export const HELP = `A small EventStoreDB for tests, on the loopback only.

Usage: npm run eventstoredb -- [options]

  --folder <path>       where the events are kept (default: a temporary folder, removed at the end)
  --port <n>            port for clients (default: 2113; 0 for a free one)
  --control-port <n>    port of the fault control over HTTP (default: a free one)
  --tls                 with a certificate of its own, kept in the folder
  --user <name:secret>  who may call, again for each; with --tls only; the first one is the administrator
  --max-append <bytes>  the most bytes of one append (default: 1048576)
  --max-streams <n>     calls at one time over one connection (default: 100)
  --no-disk-wait        answer before the disk has the events: they survive the process, not the machine
  --while-input         end when the standard input ends, so with the process that has its other end
  --help

It prints one line of JSON for each address: {"connectionString": …} and {"control": …}.
`;

export interface CommandLine {
  readonly help: boolean;
  readonly folder: string | undefined;
  readonly port: number;
  readonly controlPort: number;
  readonly tls: boolean;
  readonly users: Users | undefined;
  readonly maxAppendBytes: number;
  readonly maxStreamsPerConnection: number;
  readonly waitsForDisk: boolean;
  readonly endsWithInput: boolean;
}

/** Throws an error that names the option that is wrong. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      folder: { type: 'string' },
      port: { type: 'string', default: '2113' },
      'control-port': { type: 'string', default: '0' },
      tls: { type: 'boolean', default: false },
      user: { type: 'string', multiple: true, default: [] },
      'max-append': { type: 'string', default: String(1024 * 1024) },
      'max-streams': { type: 'string', default: '100' },
      'no-disk-wait': { type: 'boolean', default: false },
      'while-input': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.user.length > 0 && !values.tls) throw new Error('--user needs --tls: clients send no secret without it');
  return {
    help: values.help,
    folder: values.folder,
    port: numberOf('port', values.port, 0, 65_535),
    controlPort: numberOf('control-port', values['control-port'], 0, 65_535),
    tls: values.tls,
    users: values.user.length === 0 ? undefined : usersOf(values.user),
    maxAppendBytes: numberOf('max-append', values['max-append'], 1, 2 ** 30),
    maxStreamsPerConnection: numberOf('max-streams', values['max-streams'], 1, 2 ** 31 - 1),
    waitsForDisk: !values['no-disk-wait'],
    endsWithInput: values['while-input'],
  };
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a whole number from ${least} to ${most}, not '${text}'`);
}

function usersOf(texts: readonly string[]): Users {
  const users = texts.map((text, index) => {
    const [, name, password] = /^([^:]+):(.+)$/s.exec(text) ?? [];
    if (name === undefined || password === undefined) throw new Error(`--user must be name:secret`);
    return [name, { password, isAdministrator: index === 0 }] as const;
  });
  return Object.fromEntries(users);
}
