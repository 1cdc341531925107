import { optionsOf, refused, type AddressOptions } from './address-options.js';

/** What the client is made of; it is never given the connection string, which it would show. */
export interface Address {
  /** The hosts are asked which node to use. With one host alone they are that node, unless `isDiscovered`. */
  readonly hosts: readonly [Host, ...Host[]];
  readonly isDiscovered: boolean;
  /** Those of the connection string, which are for the client's own calls. */
  readonly credentials: Credentials | undefined;
  /** Given with every call, which keeps an append away from the client's shared table of appends. */
  readonly callCredentials: Credentials | undefined;
  readonly options: AddressOptions;
}

export interface Host {
  readonly address: string;
  readonly port: number;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const SCHEME = /^esdb(\+discover)?:\/\//;
const DEFAULT_PORT = 2113;
const HOST = /^[^\s$+!?*'(),;[\]{}|"%~#<>=&:@/]+$/;
const PORT = /^\d{1,5}$/;

/** Throws PERDURE_CONFIGURATION. Its text holds the name of an option at most, no other part of the address. */
export function addressOf(connectionString: string): Address {
  const text = connectionString.trim();
  const scheme = SCHEME.exec(text);
  if (scheme === null) throw refused('must begin with esdb:// or esdb+discover://');
  const [authority = '', ...queries] = text.slice(scheme[0].length).split('?');
  const query = queries.join('?');
  // What looks like an option might be the end of a password, and then it must not be named.
  if (query.includes('@')) throw refused('has an "@" behind "?": in a password "?" is %3F, in an option "@" is %40');
  const [login, place, ...more] = authority.includes('@') ? authority.split('@') : [undefined, authority];
  if (more.length > 0) throw refused('has more than one "@": in a name or a password it is %40');
  const credentials = login === undefined ? undefined : credentialsOf(login);
  const options = optionsOf(query.replace(/\/+$/, ''));
  return {
    hosts: hostsOf(place ?? ''),
    isDiscovered: scheme[1] !== undefined,
    credentials,
    // Without TLS the client never sends them.
    callCredentials: credentials ?? (options.tls === false ? { username: 'nobody', password: 'nobody' } : undefined),
    options,
  };
}

function credentialsOf(login: string): Credentials {
  const colon = login.indexOf(':');
  if (colon < 1 || colon === login.length - 1) throw refused('must have user:password before "@"');
  try {
    return {
      username: decodeURIComponent(login.slice(0, colon)),
      password: decodeURIComponent(login.slice(colon + 1)),
    };
  } catch {
    // The cause would repeat the text.
    throw refused('has a "%" in the user or the password that escapes nothing: it is %25');
  }
}

function hostsOf(place: string): Address['hosts'] {
  const [first, ...others] = place
    .replace(/\/+$/, '')
    .split(',')
    .map((each, index) => hostOf(each.trim(), index + 1));
  if (first === undefined) throw refused('has no host');
  return [first, ...others];
}

function hostOf(text: string, number: number): Host {
  const [address = '', port = String(DEFAULT_PORT), ...more] = text.split(':');
  if (address === '') throw refused(`has no name of host ${number}`);
  if (!HOST.test(address) || more.length > 0) throw refused(`has a host ${number} that is not a name or host:port`);
  if (!PORT.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw refused(`has a port of host ${number} that is not a number from 1 to 65535`);
  }
  return { address, port: Number(port) };
}
