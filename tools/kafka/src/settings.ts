/** How the clients of a broker come in. */
export interface Listener {
  readonly name: 'CLIENT' | 'PROXIED' | 'SECURED' | 'INTERNAL' | 'CONTROLLER';
  readonly port: number;
  /** The port that clients are told, when it is another one. */
  readonly advertised?: number;
}

/** A way in for clients with a name and a password, by TLS. */
export interface Secured {
  /**
   * Passwords by user, for SASL/PLAIN. They may do what rules allow, and `admin` everything; who comes in by another
   * way may do everything too.
   */
  readonly users: Readonly<Record<string, string>>;
  /** PEM of a certificate and its key. */
  readonly tls: { readonly cert: string; readonly key: string };
}

export interface BrokerSettings {
  readonly data: string;
  readonly listeners: readonly Listener[];
  readonly secured?: Secured | undefined;
  readonly others?: Readonly<Record<string, string>> | undefined;
}

/** The text of `server.properties` of a broker that is its own controller. */
export function serverProperties({ data, listeners, secured, others }: BrokerSettings): string {
  const protocolOf = ({ name }: Listener): string => (name === 'SECURED' ? 'SASL_SSL' : 'PLAINTEXT');
  const text = (listener: Listener, port = listener.port): string => `${listener.name}://127.0.0.1:${port}`;
  const controller = listeners.find(({ name }) => name === 'CONTROLLER');
  const properties: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controller?.port ?? 0}`,
    listeners: listeners.map((listener) => text(listener)).join(','),
    'advertised.listeners': listeners
      .filter(({ name }) => name !== 'CONTROLLER')
      .map((listener) => text(listener, listener.advertised))
      .join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'INTERNAL',
    'listener.security.protocol.map': listeners.map((one) => `${one.name}:${protocolOf(one)}`).join(','),
    'log.dirs': data,
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    // One that was killed is let in again without waiting for the end of its old session.
    'broker.session.timeout.ms': '2000',
    'broker.heartbeat.interval.ms': '300',
    'log.cleaner.dedupe.buffer.size': '4194304',
    ...(secured === undefined ? {} : securedProperties(secured)),
    ...others,
  };
  return `${Object.entries(properties)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}

function securedProperties({ users, tls }: Secured): Record<string, string> {
  const known = Object.entries(users).map(([name, password]) => ` user_${name}="${password}"`);
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required${known.join('')};`;
  return {
    'listener.name.secured.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.secured.plain.sasl.jaas.config': login,
    'listener.name.secured.ssl.keystore.type': 'PEM',
    'listener.name.secured.ssl.keystore.certificate.chain': oneLine(tls.cert),
    'listener.name.secured.ssl.keystore.key': oneLine(tls.key),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:admin;User:ANONYMOUS',
  };
}

/** Lines of a value end with a backslash in a file of properties. */
function oneLine(text: string): string {
  return text.trim().split('\n').join('\\n\\\n');
}
