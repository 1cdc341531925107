import type { Identity } from './identity.js';

export const HOME = '/tmp/home';

/** Files of /etc that a command has of its own, by path. */
export function privateFiles({ uid, gid }: Identity): ReadonlyMap<string, string> {
  return new Map([
    ['/etc/passwd', `root:x:0:0:root:/root:/bin/sh\nuser:x:${uid}:${gid}:user:${HOME}:/bin/sh\n`],
    ['/etc/group', `root:x:0:\nuser:x:${gid}:\n`],
    ['/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n'],
    ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files\n'],
    // A workspace may belong to another user than the command, and what git would be kept from there is harmless here.
    ['/etc/gitconfig', '[safe]\n\tdirectory = *\n'],
  ]);
}
