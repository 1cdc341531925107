import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventFilter } from '../reads/event-filter.js';
import type { Direction, ReadFrom } from '../reads/read-events.js';
import { invalidArgument } from './server-error.js';
import { streamNameOf } from './stream-name.js';

/** The window of a filter that names none. */
const DEFAULT_WINDOW = 32;

export interface ReadRequest {
  /** `$all` for the whole log. */
  readonly stream: string;
  readonly from: ReadFrom;
  readonly direction: Direction;
  readonly resolvesLinks: boolean;
  /** How many events at most; `undefined` for a subscription. */
  readonly limit: number | undefined;
  readonly filter?: EventFilter;
  /** After so many events a filter reports how far it has looked. */
  readonly checkpointEvery: number;
}

export const ALL = '$all';

/** Throws a status when the request makes no sense. */
export function readRequestOf(message: ReadReq): ReadRequest {
  const options = message.getOptions();
  if (options === undefined) throw invalidArgument('Required field Options not set.');
  const filterOptions = options.getFilter();
  const isBackwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  if (options.hasSubscription() && isBackwards) throw invalidArgument('A subscription goes forwards.');
  return {
    ...placeOf(options),
    direction: isBackwards ? 'backwards' : 'forwards',
    resolvesLinks: options.getResolveLinks(),
    limit: options.hasSubscription() ? undefined : Number(options.getCount()),
    ...(filterOptions !== undefined && { filter: filterOf(filterOptions) }),
    checkpointEvery: filterOptions === undefined ? Infinity : checkpointIntervalOf(filterOptions),
  };
}

function placeOf(options: ReadReq.Options): Pick<ReadRequest, 'stream' | 'from'> {
  const stream = options.getStream();
  if (stream !== undefined) {
    const from = stream.hasStart() ? 'start' : stream.hasEnd() ? 'end' : Number(stream.getRevision());
    return { stream: streamNameOf(stream.getStreamIdentifier()), from };
  }
  const all = options.getAll();
  if (all === undefined) throw invalidArgument('Neither a stream nor all streams are named.');
  // The largest number of the protocol means the end.
  const position = all.getPosition()?.getCommitPosition() ?? '0';
  if (BigInt(position) > BigInt(Number.MAX_SAFE_INTEGER)) return { stream: ALL, from: 'end' };
  return { stream: ALL, from: all.hasStart() ? 'start' : all.hasEnd() ? 'end' : Number(position) };
}

function filterOf(options: ReadReq.Options.FilterOptions): EventFilter {
  const [on, expression] = options.hasEventType()
    ? (['type', options.getEventType()] as const)
    : (['stream', options.getStreamIdentifier()] as const);
  if (expression === undefined) throw invalidArgument('The filter has no expression.');
  const text = expression.getRegex();
  return { on, prefixes: expression.getPrefixList(), ...(text !== '' && { regex: regexOf(text) }) };
}

function regexOf(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw invalidArgument(`'${text}' is not a regular expression.`);
  }
}

function checkpointIntervalOf(options: ReadReq.Options.FilterOptions): number {
  const window = options.hasMax() ? options.getMax() : DEFAULT_WINDOW;
  return window * Math.max(1, options.getCheckpointintervalmultiplier());
}
