import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { HostEnv } from '@perdure/plugin-api';

/**
 * Ids, time, chance and time zone of the system. The node's name is new with every start, so that two processes never
 * share one.
 */
export function systemHostEnv(): HostEnv {
  return {
    idGenerator: { next: () => randomUUID() },
    clock: { now: () => Date.now() },
    random: () => Math.random(),
    nodeId: `${hostname()}-${randomUUID().slice(0, 8)}`,
    timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
