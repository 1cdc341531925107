import type { Logger } from '@perdure/plugin-api';
import { checkWhole, invalidInput } from '@perdure/plugin-api/store-input';
import type pg from 'pg';
import { namesOf, type Names } from './names.js';

export interface PostgresStoresOptions {
  /**
   * `postgres://user:password@host:5432/database`, with `sslmode` and the other parameters of `pg`. Instead of it
   * `host`, `port`, `database`, `user` and `password`; what is missing comes from `PGHOST` and the like.
   */
  readonly url?: string;
  /** A name, or the folder of a Unix socket. */
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  /** The password, or what gives one for each connection. */
  readonly password?: string | (() => string | Promise<string>);
  /** TLS; `true` checks the server's certificate against the authorities of Node. */
  readonly ssl?: boolean | PostgresTls;
  /** The schema that holds the tables; several stores can share a database. `perdure` when absent. */
  readonly schema?: string;
  /** Connections beside the one that appends and the one that listens. 4 when absent. */
  readonly connections?: number;
  /** Milliseconds that connecting may take. 10,000 when absent. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds that a query may take. 30,000 when absent. */
  readonly queryTimeoutMs?: number;
  /** Milliseconds between two looks for commits of other nodes whose notification was lost. 1,000 when absent. */
  readonly pollMs?: number;
  /** The largest artifact. 256 MiB when absent. Bytes. */
  readonly maxArtifactBytes?: number;
  /** Told of connections that were lost and found again. */
  readonly logger?: Logger;
}

export interface PostgresTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** The options with what was left out filled in. */
export interface Settings {
  readonly client: pg.ClientConfig;
  readonly names: Names;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly queryTimeoutMs: number;
  readonly pollMs: number;
  readonly maxArtifactBytes: number;
  readonly logger: Logger | undefined;
}

const PARTS = ['host', 'port', 'database', 'user', 'password'] as const;

/** Throws PERDURE_INPUT_INVALID with the field. No error holds the password. */
export function readOptions(options: PostgresStoresOptions): Settings {
  const settings = {
    names: namesOf(options.schema ?? 'perdure'),
    connections: options.connections ?? 4,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    queryTimeoutMs: options.queryTimeoutMs ?? 30_000,
    pollMs: options.pollMs ?? 1_000,
    maxArtifactBytes: options.maxArtifactBytes ?? 256 * 1024 * 1024,
  };
  for (const field of ['connections', 'connectTimeoutMs', 'queryTimeoutMs', 'pollMs', 'maxArtifactBytes'] as const) {
    checkWhole(field, settings[field], 1);
  }
  return { ...settings, client: clientConfig(options), logger: options.logger };
}

function clientConfig({ url, ssl, ...options }: PostgresStoresOptions): pg.ClientConfig {
  const given = PARTS.filter((part) => options[part] !== undefined);
  if (url !== undefined) {
    const [first] = given;
    if (first !== undefined) throw invalidInput(first, 'must not be given beside url');
    if (typeof url !== 'string' || !/^postgres(ql)?:\/\//.test(url)) {
      throw invalidInput('url', 'must begin with postgres:// or postgresql://');
    }
    checkEscapes(url);
  }
  const parts = Object.fromEntries(given.map((part) => [part, options[part]]));
  return {
    ...(url === undefined ? parts : { connectionString: url }),
    ...(ssl === undefined ? {} : { ssl: ssl === false || ssl === true ? ssl : { ...ssl } }),
    fallback_application_name: 'perdure',
    keepAlive: true,
  };
}

/** What `pg` cannot read it would show, password and all. */
function checkEscapes(url: string): void {
  try {
    decodeURIComponent(url);
    void new URL(url.replace('@/', '@host/'));
  } catch {
    // The cause would repeat the text.
    throw invalidInput('url', 'is not an address that can be read');
  }
}
