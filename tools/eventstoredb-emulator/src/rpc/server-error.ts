import grpc from '@grpc/grpc-js';

/** A call that ends with a status; the client reads its class and fields from the trailers. */
export class ServerError extends Error {
  readonly code: grpc.status;
  readonly details: string;
  readonly metadata: grpc.Metadata;

  constructor(code: grpc.status, details: string, trailers: Readonly<Record<string, string>> = {}) {
    super(details);
    this.code = code;
    this.details = details;
    this.metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, value);
  }
}

export function wrongExpectedVersion(stream: string, expected: number, actual: number): ServerError {
  return new ServerError(
    grpc.status.FAILED_PRECONDITION,
    `Append failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, ` +
      `Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      ...(actual >= 0 && { 'actual-version': String(actual) }),
    },
  );
}

export function streamDeleted(stream: string): ServerError {
  return new ServerError(grpc.status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
}

export function appendTooLarge(limit: number): ServerError {
  return new ServerError(grpc.status.INVALID_ARGUMENT, `Maximum Append Size of ${limit} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(limit),
  });
}

export function accessDenied(): ServerError {
  return new ServerError(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
}

export function notLeader(host: string, port: number): ServerError {
  return new ServerError(grpc.status.NOT_FOUND, `Leader info available: ${host}:${port}`, {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
}

export function missingProperty(names: readonly string[]): ServerError {
  return new ServerError(grpc.status.INVALID_ARGUMENT, `Required Metadata Property '${names.join()}' is missing`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': names.join(),
  });
}

export function invalidArgument(details: string): ServerError {
  return new ServerError(grpc.status.INVALID_ARGUMENT, details);
}
