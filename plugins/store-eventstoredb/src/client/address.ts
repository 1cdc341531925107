/** What the store reads of a connection string itself. */
export interface Address {
  /** For the connection that appends and reads. */
  readonly connectionString: string;
  /** For the connection that watches: with another setting, so that both do not share the limit of calls of one. */
  readonly watchString: string;
  /** Given with every append, which keeps it away from the client's shared table of appends. */
  readonly credentials: Credentials | undefined;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const CREDENTIALS = /^[a-z+]+:\/\/([^:@/]+):([^@/]+)@/;

export function addressOf(connectionString: string): Address {
  const [, username, password] = CREDENTIALS.exec(connectionString) ?? [];
  const isInsecure = /[?&]tls=false(?:&|$)/i.test(connectionString);
  const separator = connectionString.includes('?') ? '&' : '?';
  const hasInterval = /[?&]keepAliveInterval=/i.test(connectionString);
  return {
    connectionString,
    watchString: hasInterval ? connectionString : `${connectionString}${separator}keepAliveInterval=10001`,
    credentials:
      username !== undefined && password !== undefined
        ? { username: decodeURIComponent(username), password: decodeURIComponent(password) }
        : // Without TLS the client never sends them.
          isInsecure
          ? { username: 'nobody', password: 'nobody' }
          : undefined,
  };
}
