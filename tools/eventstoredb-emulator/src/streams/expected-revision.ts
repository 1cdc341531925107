/** What a writer expects of a stream: its last revision, or one of the conditions that the protocol knows. */
export type ExpectedRevision = number | 'no-stream' | 'stream-exists' | 'any';

/** The last revision of a stream that was never written. */
export const NO_STREAM = -1;
