export { kafkaForTests } from './for-tests.js';
export type { TestKafka } from './for-tests.js';
export { findKafka, KAFKA_VERSION, resolveKafka } from './jars.js';
export type { KafkaFiles } from './jars.js';
export { apiKeys, KafkaProxy } from './proxy/kafka-proxy.js';
export type { ApiName, LostReply, ProxiedPort } from './proxy/kafka-proxy.js';
export { startKafka } from './start-kafka.js';
export type { KafkaBroker, KafkaOptions } from './start-kafka.js';
export type { Secured } from './settings.js';
