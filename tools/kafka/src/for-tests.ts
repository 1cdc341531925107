import { resolveKafka } from './jars.js';
import type { ProxiedPort } from './proxy/kafka-proxy.js';
import { startKafka, type KafkaOptions } from './start-kafka.js';

/** What tests get to know of the machine. */
export interface TestKafka {
  /** The brokers that they share; empty when there is none. */
  readonly brokers: readonly string[];
  /** Of brokers that were started here. */
  readonly proxied?: ProxiedPort;
  readonly securedBrokers: readonly string[];
  /** Whether they may start brokers of their own. */
  readonly canStart: boolean;
  stop(): Promise<void>;
}

/**
 * The broker that all tests of a run share: the one of KAFKA_BROKERS (`host:port`, separated by commas), or one that is
 * started. Without Java or Maven it says so on standard error, and tests that need a broker must be skipped; in CI it
 * throws.
 */
export async function kafkaForTests(
  options: KafkaOptions = {},
  environment: NodeJS.ProcessEnv = process.env,
): Promise<TestKafka> {
  const given = environment['KAFKA_BROKERS'] ?? '';
  const reason = await resolveKafka(environment).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (reason !== undefined) {
    if ((environment['CI'] ?? '') !== '') throw new Error(`Tests need Apache Kafka. ${reason}`);
    process.stderr.write(`\nSKIPPED: tests that need Apache Kafka. ${reason}\n\n`);
  }
  const broker = given === '' && reason === undefined ? await startKafka(options) : undefined;
  return {
    brokers: broker?.brokers ?? given.split(',').filter(Boolean),
    ...(broker === undefined ? {} : { proxied: broker.proxied }),
    securedBrokers: broker?.securedBrokers ?? [],
    canStart: reason === undefined,
    async stop() {
      await broker?.stop();
    },
  };
}
