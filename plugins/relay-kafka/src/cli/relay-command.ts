import { parseArgs } from 'node:util';
import { PerdureError, type CliCommand, type CliStreams, type EventStore, type Logger } from '@perdure/plugin-api';
import { relayOptions, type RelayOptions } from '../options.js';
import { processSignal } from './process-signal.js';
import { republish } from './republish.js';
import { runRelay } from './run-relay.js';
import { showStatus } from './show-status.js';
import { showVerification } from './show-verification.js';
import { tail } from './tail.js';

export interface CommandGround {
  readonly store: EventStore;
  readonly options: RelayOptions;
  readonly node?: string | undefined;
  readonly logger?: Logger | undefined;
}

/** A command with what it was told. */
export interface Told extends CommandGround {
  readonly io: CliStreams;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

const flags = {
  json: { type: 'boolean' },
  prefix: { type: 'string' },
  session: { type: 'string' },
  tenant: { type: 'string' },
  once: { type: 'boolean' },
} as const;

const SUMMARY = 'relay facts to Kafka: run, status, republish, verify, tail';

/** `perdure relay run | status | republish --prefix P | verify [--prefix P] | tail --session ID [--tenant T]`. */
export function relayCommand(ground: CommandGround): CliCommand {
  return { name: 'relay', summary: SUMMARY, run: (args, io) => runCommand(ground, args, io) };
}

async function runCommand(ground: CommandGround, args: readonly string[], io: CliStreams): Promise<number> {
  const { name, values } = parsed(args);
  const { signal, dispose } = processSignal();
  const { prefix } = values;
  const other = prefix === undefined ? ground.options : withPrefix(ground.options, prefix);
  const told: Told = { ...ground, options: other, io, json: values.json ?? false, signal };
  try {
    switch (name) {
      case 'run':
        return await runRelay(told);
      case 'status':
        return await showStatus(told);
      case 'verify':
        return await showVerification(told);
      case 'republish':
        if (prefix === undefined || prefix === ground.options.topics.prefix)
          throw wrong('--prefix', 'is that of other topics, which the facts are sent to again');
        return await republish(told);
      case 'tail':
        if (values.session === undefined) throw wrong('--session', 'is missing');
        return await tail(told, { tenant: values.tenant, id: values.session }, values.once ?? false);
      default:
        throw wrong('command', `there is no "relay ${name}"; there are run, status, republish, verify and tail`);
    }
  } finally {
    dispose();
  }
}

function parsed(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({ args: [...args], options: flags, allowPositionals: true });
    return { name: positionals[0] ?? '', values };
  } catch (error) {
    throw wrong('command', error instanceof Error ? error.message : String(error));
  }
}

function withPrefix(options: RelayOptions, prefix: string): RelayOptions {
  const checked = relayOptions.shape.topics.safeParse({ ...options.topics, prefix });
  if (!checked.success) throw wrong('--prefix', checked.error.issues[0]?.message ?? 'is not valid');
  return { ...options, topics: checked.data };
}

function wrong(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
