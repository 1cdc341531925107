import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateIn } from '@perdure/eventstoredb-emulator';
import { kafkaForTests, type ProxiedPort, type TestKafka } from '@perdure/kafka';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The brokers that all tests share; empty when there are none. */
    kafkaBrokers: readonly string[];
    /** Where a test can put a proxy before the brokers; absent for those of KAFKA_BROKERS. */
    kafkaProxied: ProxiedPort | undefined;
    /** Ways in with a name and a password (`relay-user`, `secret`), and the authority of their certificate. */
    kafkaSecured: { readonly brokers: readonly string[]; readonly ca: string };
    /** Whether tests may start brokers of their own. */
    canStartKafka: boolean;
  }
}

let kafka: TestKafka | undefined;

/** Starts one Kafka for all tests, unless KAFKA_BROKERS names one. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kafka-tls-'));
  const { certificate: cert, key } = await certificateIn(folder);
  await rm(folder, { recursive: true });
  kafka = await kafkaForTests({ secured: { users: { admin: 'secret', 'relay-user': 'secret' }, tls: { cert, key } } });
  project.provide('kafkaBrokers', kafka.brokers);
  project.provide('kafkaProxied', kafka.proxied);
  project.provide('kafkaSecured', { brokers: kafka.securedBrokers, ca: cert });
  project.provide('canStartKafka', kafka.canStart);
}

export async function teardown(): Promise<void> {
  await kafka?.stop();
}
