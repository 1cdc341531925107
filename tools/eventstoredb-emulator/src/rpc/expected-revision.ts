import { NO_STREAM, type ExpectedRevision } from '../streams/expected-revision.js';
import { invalidArgument } from './server-error.js';

/** What the three kinds of requests have in common; the number has another name in one of them. */
interface ExpectationOptions {
  hasAny(): boolean;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
}

/** `revision` is the number that the request gives, if it does. Throws a status when it expects nothing. */
export function expectedRevisionOf(options: ExpectationOptions, revision: string | undefined): ExpectedRevision {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no-stream';
  if (options.hasStreamExists()) return 'stream-exists';
  if (revision === undefined) throw invalidArgument('No expected revision is set.');
  return Number(revision);
}

/** The number that the protocol has for an expectation in trailers. */
export function expectationNumber(expected: ExpectedRevision): number {
  if (typeof expected === 'number') return expected;
  return { any: -2, 'no-stream': NO_STREAM, 'stream-exists': -4 }[expected];
}
