/** Everything that differs between two executions of the same work. Replace it and a run repeats byte for byte. */
export interface HostEnv {
  readonly idGenerator: IdGenerator;
  readonly clock: Clock;
  /** A number from 0 up to before 1. */
  readonly random: () => number;
  /** The node's name; it stays the same when the process is started again. */
  readonly nodeId: string;
  /** The IANA name of the time zone that sessions record when they are made; none is recorded when absent. */
  readonly timezone?: string;
}

export interface IdGenerator {
  /** A new id. Ids of one scope (session, epoch and purpose) do not depend on what happens in another. */
  next(scope: string): string;
}

export interface Clock {
  /** Epoch milliseconds, for facts. Never used for time-outs, back-off or liveness. */
  now(): number;
}
