import grpc from '@grpc/grpc-js';
import { timingSafeEqual } from 'node:crypto';
import { accessDenied, ServerError } from '../rpc/server-error.js';
import type { StreamIndex } from '../streams/stream-index.js';
import type { AccessList } from '../streams/stream-metadata.js';

export interface User {
  readonly password: string;
  /** May do everything; only administrators get at `$all` and at streams whose names begin with `$`. */
  readonly isAdministrator: boolean;
}
export type Users = Readonly<Record<string, User>>;

export type Right = 'read' | 'write' | 'delete';
const KEYS = { read: '$r', write: '$w', delete: '$d' } as const;
const METADATA_KEYS = { read: '$mr', write: '$mw', delete: '$mw' } as const;

/** Checks the credentials of calls, and what streams allow. Without users everybody may do everything. */
export class Access {
  private readonly users: Users | undefined;
  private readonly index: StreamIndex;

  constructor(users: Users | undefined, index: StreamIndex) {
    this.users = users;
    this.index = index;
  }

  /** Throws the status with which a call is refused. */
  check(headers: grpc.Metadata, stream: string, right: Right): void {
    if (this.users === undefined) return;
    const { name, isAdministrator } = userOf(this.users, headers);
    if (isAdministrator) return;
    const isMetadata = stream.startsWith('$$');
    const target = isMetadata ? stream.slice(2) : stream;
    if (target.startsWith('$')) throw accessDenied();
    const list = this.index.metadataOf(target, 'published').$acl;
    const key = isMetadata ? METADATA_KEYS[right] : KEYS[right];
    if (!allows(list, key, name)) throw accessDenied();
  }
}

function userOf(users: Users, headers: grpc.Metadata): User & { readonly name: string } {
  const [header] = headers.get('authorization');
  if (header === undefined) throw accessDenied();
  const [, encoded = ''] = /^Basic (.+)$/i.exec(String(header)) ?? [];
  const [name = '', ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const user = Object.hasOwn(users, name) ? users[name] : undefined;
  if (user === undefined || !isSame(user.password, password.join(':'))) {
    throw new ServerError(grpc.status.UNAUTHENTICATED, 'The credentials are not known.');
  }
  return { ...user, name };
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A right that is not listed is everybody's. */
function allows(list: AccessList | undefined, key: keyof AccessList, name: string): boolean {
  const granted = list?.[key];
  if (granted === undefined) return true;
  const names = typeof granted === 'string' ? [granted] : granted;
  return names.includes('$all') || names.includes(name);
}
