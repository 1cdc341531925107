import type { ReadableOptions, TransformCallback, TransformOptions } from 'node:stream';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Position, StoredEvent, Watched } from './connection.js';

/** What a read gives: its events, or that there is no such stream. */
export type ReadAnswer = StoredEvent | 'missing';

/** What the client hands on to the stream that it makes. */
type StreamOptions = ReadableOptions & Pick<TransformOptions, 'transform'>;

/**
 * How the client is to give the events of a read. By itself it takes all metadata for JSON and throws an error of its
 * own for each event that has bytes there, and another one for a stream that is missing: most of the time of a read.
 * Its reads are transform streams, which are given another transformation by their options.
 */
export function readAnswers(): StreamOptions {
  return asTransform((response, give) => {
    if (response.hasStreamNotFound()) return give('missing');
    const event = eventIn(response);
    return event === undefined ? undefined : give(event);
  });
}

/** The same for a subscription: what it gives is what a watch tells. */
export function watchAnswers(): StreamOptions {
  let checkpoint: Position | undefined;
  let isLive = false;
  return asTransform((response, give) => {
    const reached = response.getCheckpoint();
    if (reached !== undefined) checkpoint = positionOf(reached.getCommitPosition(), reached.getPreparePosition());
    // It comes again when the server had to catch up in between: nothing was lost then.
    if (response.hasCaughtUp() && !isLive) {
      isLive = true;
      give({ kind: 'live', ...(checkpoint !== undefined && { position: checkpoint }) });
    }
    const event = eventIn(response);
    if (event !== undefined) give({ kind: 'appended', event });
  });
}

function asTransform(take: (response: ReadResp, give: (answer: ReadAnswer | Watched) => void) => void): StreamOptions {
  return {
    transform(response: ReadResp, _encoding: BufferEncoding, next: TransformCallback) {
      try {
        take(response, (answer) => void this.push(answer));
        next();
      } catch (error) {
        next(error instanceof Error ? error : new Error(String(error)));
      }
    },
  };
}

/** The event of an answer; `undefined` when it has none, as that of a link whose event is gone. */
function eventIn(response: ReadResp): StoredEvent | undefined {
  const record = response.getEvent()?.getEvent();
  if (record === undefined) return undefined;
  const [stream, id] = [record.getStreamIdentifier(), record.getId()];
  if (stream === undefined || id?.hasString() !== true) throw new Error('the server gave an event without a name');
  return {
    stream: Buffer.from(stream.getStreamName_asU8()).toString('utf8'),
    id: id.getString(),
    type: record.getMetadataMap().get('type') ?? '',
    revision: Number(record.getStreamRevision()),
    position: positionOf(record.getCommitPosition(), record.getPreparePosition()),
    data: record.getData_asU8(),
    metadata: record.getCustomMetadata_asU8(),
  };
}

function positionOf(commit: string, prepare: string): Position {
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
