import { PerdureError } from '@perdure/plugin-api';

/** The options of a connection string, by the client's own names. */
export interface AddressOptions {
  readonly tls?: boolean;
  readonly tlsCAFile?: string;
  readonly userCertFile?: string;
  readonly userKeyFile?: string;
  readonly connectionName?: string;
  readonly nodePreference?: (typeof PREFERENCES)[number];
  readonly throwOnAppendFailure?: boolean;
  readonly maxDiscoverAttempts?: number;
  readonly discoveryInterval?: number;
  readonly gossipTimeout?: number;
  readonly defaultDeadline?: number;
  readonly keepAliveInterval?: number;
  readonly keepAliveTimeout?: number;
}

type Read = (value: string, name: string) => string | number | boolean;

const PREFERENCES = ['leader', 'follower', 'read_only_replica', 'random'] as const;

const READERS: Readonly<Record<keyof AddressOptions | 'tlsVerifyCert', Read>> = {
  tls: flag,
  tlsVerifyCert: verified,
  tlsCAFile: text,
  userCertFile: text,
  userKeyFile: text,
  connectionName: text,
  nodePreference: preference,
  throwOnAppendFailure: flag,
  maxDiscoverAttempts: whole(0),
  discoveryInterval: whole(0),
  gossipTimeout: whole(0),
  defaultDeadline: whole(1),
  keepAliveInterval: whole(-1),
  keepAliveTimeout: whole(-1),
};

/** Small letters, hyphens and underlines make no difference, as in the client. */
const NAMES: ReadonlyMap<string, keyof typeof READERS> = new Map(
  (Object.keys(READERS) as (keyof typeof READERS)[]).map((name) => [flat(name), name]),
);

/** A name that can be shown, and is not something else that came to stand there. */
const SHOWN = /^[\w-]{1,40}$/;

/**
 * The last one of two with the same name counts. Throws PERDURE_CONFIGURATION.
 *
 * @param query what stands behind `?`
 */
export function optionsOf(query: string): AddressOptions {
  const options: Record<string, string | number | boolean> = {};
  if (query === '') return options;
  for (const [index, pair] of query.split('&').entries()) {
    const [given = '', value = '', ...more] = pair.split('=');
    if (given.trim() === '' || value.trim() === '' || more.length > 0) {
      throw refused(`has an option ${index + 1} that is not name=value`);
    }
    const name = NAMES.get(flat(given));
    if (name === undefined) {
      const shown = SHOWN.test(given) ? `the option "${given}"` : `an option ${index + 1}`;
      throw refused(`has ${shown}, which is not known; known are ${Object.keys(READERS).join(', ')}`);
    }
    options[name] = READERS[name](value.trim(), name);
  }
  if ((options['userCertFile'] === undefined) !== (options['userKeyFile'] === undefined)) {
    throw refused('must have userCertFile and userKeyFile together');
  }
  delete options['tlsVerifyCert'];
  return options;
}

/** The error for a connection string. It has no cause: every error of the client or of Node would repeat the text. */
export function refused(reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: 'connectionString', reason });
}

function flat(name: string): string {
  return name.trim().toLowerCase().replace(/[_-]/g, '');
}

function flag(value: string, name: string): boolean {
  if (value !== 'true' && value !== 'false') throw refused(`has an option "${name}" that is not true or false`);
  return value === 'true';
}

function verified(value: string, name: string): boolean {
  if (!flag(value, name)) throw refused('has tlsVerifyCert=false, which the client cannot do: give tlsCAFile');
  return true;
}

function text(value: string, name: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw refused(`has an option "${name}" with a "%" that escapes nothing: it is %25`);
  }
}

function preference(value: string, name: string): string {
  const known = PREFERENCES.find((each) => flat(each) === flat(value));
  if (known === undefined) throw refused(`has an option "${name}" that is not one of ${PREFERENCES.join(', ')}`);
  return known;
}

function whole(least: number): Read {
  return (value, name) => {
    const number = /^-?\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least)) throw refused(`has an option "${name}" that is not a whole number from ${least} on`);
    return number;
  };
}
