import { APPROVAL, definePlugin, TOOLS } from '@perdure/plugin-api';
import { z } from 'zod';
import { approvalPolicy } from './approval-policy.js';
import { askUserTool } from './ask-user.js';
import { version } from './version.js';

/** A timer cannot be set for longer, and nobody waits for an answer for a year. */
const LONGEST_MS = 365 * 24 * 60 * 60 * 1_000;

const config = z.strictObject({
  /** What happens to calls that the rules leave open. */
  mode: z.enum(['ask', 'always-allow', 'deny']).default('ask'),
  /** Milliseconds until a request without an answer is answered by `onExpiry`; never when absent. */
  expiresInMs: z.int().positive().max(LONGEST_MS).optional(),
  onExpiry: z.enum(['allow', 'deny']).default('deny'),
  /** Whether models have the tool `ask_user`. */
  askUser: z.boolean().default(true),
});

export type ApprovalOptions = z.input<typeof config>;

/** Has people asked about calls that the permission rules leave open, and lets models ask them. */
export const policyApproval = definePlugin({
  name: 'policy-approval',
  api: 1,
  version,
  config: config.prefault({}),
  provides: [APPROVAL, TOOLS],
  setup: ({ config: settings, provide }) => {
    provide(APPROVAL, approvalPolicy(settings));
    if (settings.askUser) {
      const tools = { ask_user: askUserTool(settings.expiresInMs) };
      provide(TOOLS, { name: 'policy-approval', tools: () => tools });
    }
    return {};
  },
});
