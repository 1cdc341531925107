import { definePlugin, PERMISSION } from '@perdure/plugin-api';
import { z } from 'zod';
import { createPermissionPolicy } from './permission-policy.js';
import { version } from './version.js';

const config = z.strictObject({
  /** Calls that need nobody's permission. */
  allow: z.array(z.string()).default(['read', 'list', 'find', 'grep', 'read_artifact']),
  /** Calls that are never made. */
  deny: z.array(z.string()).default([]),
  /** Calls that a person is asked about, also when a rule allows them. */
  ask: z.array(z.string()).default([]),
  /** For all other calls. */
  default: z.enum(['ask', 'deny', 'allow']).default('ask'),
});

/** Decides about tool calls by rules. */
export const policyPermission = definePlugin({
  name: 'policy-permission',
  api: 1,
  version,
  config: config.prefault({}),
  provides: [PERMISSION],
  setup: ({ config: rules, provide }) => {
    provide(PERMISSION, createPermissionPolicy(rules));
    return {};
  },
});
