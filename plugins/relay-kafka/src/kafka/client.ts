import { Kafka, logLevel, type KafkaConfig, type LogEntry, type SASLOptions } from 'kafkajs';
import type { Logger } from '@perdure/plugin-api';
import type { ConnectionOptions } from '../options.js';

/** Tries of one request within the client. What fails longer is begun anew with a new producer. */
const RETRIES = 3;

/** What kafkajs takes for a connection. Passwords are asked for once a client is made. */
export async function clientConfig(options: ConnectionOptions): Promise<KafkaConfig & { brokers: string[] }> {
  const { brokers, clientId, ssl, connectTimeoutMs, requestTimeoutMs } = options;
  const sasl = await saslOf(options);
  return {
    brokers: [...brokers],
    clientId,
    connectionTimeout: connectTimeoutMs,
    authenticationTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    retry: { retries: RETRIES, initialRetryTime: 100, maxRetryTime: 2_000 },
    ...(ssl === undefined || ssl === false ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

/** A client of the brokers. What it reports goes to the logger. */
export async function kafkaClient(options: ConnectionOptions, logger?: Logger): Promise<Kafka> {
  return new Kafka({
    ...(await clientConfig(options)),
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => report(entry, logger),
  });
}

/** The client logs every try as an error; those that matter are thrown too. */
function report({ namespace, log }: LogEntry, logger: Logger | undefined): void {
  logger?.log('debug', log.message, { from: `kafkajs ${namespace}` });
}

async function saslOf({ sasl }: ConnectionOptions): Promise<SASLOptions | undefined> {
  if (sasl === undefined) return undefined;
  if (sasl.mechanism === 'oauthbearer') return { mechanism: 'oauthbearer', oauthBearerProvider: sasl.token };
  const { mechanism, username } = sasl;
  const password = typeof sasl.password === 'string' ? sasl.password : await sasl.password();
  return { mechanism, username, password } as SASLOptions;
}
