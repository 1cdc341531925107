import { z } from 'zod';

const text = z.string().min(1);
const whole = z.int().min(1);
const bytes = z.int().min(1_024);

const tls = z.strictObject({
  ca: text.exactOptional(),
  cert: text.exactOptional(),
  key: text.exactOptional(),
  passphrase: text.exactOptional(),
  servername: text.exactOptional(),
  rejectUnauthorized: z.boolean().exactOptional(),
});

/** `password` may be a function that gives it for each connection. */
const password = z.union([
  z.string(),
  z.custom<() => string | Promise<string>>((value) => typeof value === 'function', 'must be a text or a function'),
]);

const sasl = z.discriminatedUnion('mechanism', [
  z.strictObject({ mechanism: z.literal('plain'), username: text, password }),
  z.strictObject({ mechanism: z.literal('scram-sha-256'), username: text, password }),
  z.strictObject({ mechanism: z.literal('scram-sha-512'), username: text, password }),
  z.strictObject({
    mechanism: z.literal('oauthbearer'),
    token: z.custom<() => Promise<{ readonly value: string }>>(
      (value) => typeof value === 'function',
      'must be a function',
    ),
  }),
]);

/** Where the brokers are, and how one gets in. */
export const connectionOptions = z.strictObject({
  /** `host:port` of some brokers; they tell the others. */
  brokers: z.array(text).min(1),
  clientId: text.default('perdure-relay'),
  ssl: z.union([z.boolean(), tls]).exactOptional(),
  sasl: sasl.exactOptional(),
  connectTimeoutMs: whole.default(5_000),
  /** A broker that does not answer in time is given up. */
  requestTimeoutMs: whole.default(30_000),
});
export type ConnectionOptions = z.output<typeof connectionOptions>;

/** Topics are made with these settings, and refused when they exist with others. */
export const topicOptions = z.strictObject({
  /** The topics are `<prefix>.session-events.v1`, `<prefix>.session-state.v1` and `<prefix>.dead-letters.v1`. */
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,180}$/, 'is letters, digits, ".", "_" and "-"')
    .default('perdure'),
  /** Of the facts and of the state. It can never be changed: the order of a session's facts depends on it. */
  partitions: whole.default(6),
  /** Copies of each partition; what the brokers are set to when absent. */
  replicationFactor: whole.exactOptional(),
  minInsyncReplicas: whole.exactOptional(),
  /** Milliseconds that facts stay on the topic; `-1`: for ever. */
  retentionMs: z.int().min(-1).default(-1),
  /** The largest batch of the facts and state topics, and of the dead letters. */
  maxMessageBytes: bytes.default(4 * 1024 * 1024),
  maxDeadLetterBytes: bytes.default(16 * 1024 * 1024),
});
export type TopicOptions = z.output<typeof topicOptions>;

/** Whole sessions that are relayed; all when absent. `null` is the tenant of sessions without one. */
export const filterOptions = z.strictObject({
  tenants: z.array(z.union([z.string(), z.null()])).exactOptional(),
  /** By the template that a session has when it is created. */
  templates: z.array(z.string()).exactOptional(),
});
export type RelayFilter = z.output<typeof filterOptions>;

export const batchOptions = z.strictObject({
  /** Facts, and bytes before compression, of one transaction. */
  maxFacts: whole.default(1_000),
  maxBytes: bytes.default(2 * 1024 * 1024),
  /** Milliseconds that a fact waits for others. */
  lingerMs: z.int().min(0).default(20),
  compression: z.enum(['gzip', 'none']).default('gzip'),
});
export type BatchOptions = z.output<typeof batchOptions>;

export const relayOptions = z.strictObject({
  ...connectionOptions.shape,
  topics: topicOptions.prefault({}),
  filter: filterOptions.prefault({}),
  batch: batchOptions.prefault({}),
  /** What `ce_source` says behind `/perdure/`; the name of the store when absent. */
  storeId: text.exactOptional(),
  /** Milliseconds without a life sign after which another relay takes over. */
  leaseMs: z.int().min(200).default(10_000),
  /** Streams that are remembered; one that is not is read again from the store when it goes on. */
  remembered: whole.default(20_000),
  /** Whether the runtime relays while it runs; else `perdure relay run` does. */
  autoStart: z.boolean().default(false),
});
export type RelayOptions = z.output<typeof relayOptions>;
/** The same before the defaults are filled in. */
export type RelaySettings = z.input<typeof relayOptions>;
