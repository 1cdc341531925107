import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Address } from './address.js';
import { refused } from './address-options.js';

/**
 * A client for the address. It is made of settings: of a connection string it would print and throw the whole text.
 * Throws PERDURE_CONFIGURATION when a file that the address names cannot be read.
 *
 * @param keepAliveInterval milliseconds, when the address does not say
 */
export function makeClient(address: Address, keepAliveInterval?: number): EventStoreDBClient {
  const { tls, tlsCAFile, userCertFile, userKeyFile, ...options } = address.options;
  const { nodePreference, discoveryInterval, gossipTimeout, maxDiscoverAttempts, ...client } = options;
  const settings = { ...(keepAliveInterval !== undefined && { keepAliveInterval }), ...client };
  const discovery = {
    ...(nodePreference !== undefined && { nodePreference }),
    ...(discoveryInterval !== undefined && { discoveryInterval }),
    ...(gossipTimeout !== undefined && { gossipTimeout }),
    ...(maxDiscoverAttempts !== undefined && { maxDiscoverAttempts }),
  };
  const insecure = tls === false;
  const channel = {
    insecure,
    ...(tlsCAFile !== undefined && !insecure && { rootCertificate: fileOf('tlsCAFile', tlsCAFile) }),
    ...(userCertFile !== undefined && { userCertFile: fileOf('userCertFile', userCertFile) }),
    ...(userKeyFile !== undefined && { userKeyFile: fileOf('userKeyFile', userKeyFile) }),
  };
  const [first, ...others] = address.hosts;
  const { credentials } = address;
  if (address.isDiscovered) {
    return new EventStoreDBClient({ discover: first, ...discovery, ...settings }, channel, credentials);
  }
  if (others.length > 0) {
    return new EventStoreDBClient({ endpoints: [first, ...others], ...discovery, ...settings }, channel, credentials);
  }
  return new EventStoreDBClient({ endpoint: first, ...settings }, channel, credentials);
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(resolve(path));
  } catch (error) {
    // The path is a part of the address, so the error of Node is not told.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw refused(`has an option "${option}" whose file cannot be read (${code})`);
  }
}
