import { PERMISSION, type PermissionPolicy } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import plugin, { createPermissionPolicy, policyPermission } from './index.js';

/** Sets the plugin up as the runtime does. */
async function setUp(given: unknown): Promise<PermissionPolicy> {
  let provided: unknown;
  await policyPermission.setup({
    config: policyPermission.config.parse(given),
    get: () => {
      throw new Error('nothing is needed');
    },
    find: () => undefined,
    provide: (token, value) => {
      if (token.key === PERMISSION.key) provided = value;
    },
  });
  return provided as PermissionPolicy;
}

describe('the plugin', () => {
  test('provides a policy that lets files be read and asks about the rest', async () => {
    expect(plugin).toBe(policyPermission);
    const policy = await setUp(undefined);
    expect(policy.id).toBe('policy-permission');
    const usual = createPermissionPolicy({ allow: ['read_artifact', 'grep', 'find', 'list', 'read'], default: 'ask' });
    expect(policy.digest).toBe(usual.digest);
  });

  test('takes rules from its configuration and refuses what it does not know', async () => {
    const policy = await setUp({ allow: ['bash(ls:*)'], default: 'deny' });
    expect(policy.digest).toBe(createPermissionPolicy({ allow: ['bash(ls:*)'], default: 'deny' }).digest);
    expect(policyPermission.config.safeParse({ denny: ['bash'] }).success).toBe(false);
    expect(policyPermission.config.safeParse({ default: 'maybe' }).success).toBe(false);
    await expect(setUp({ deny: ['read', 'bash('] })).rejects.toMatchObject({
      code: 'PERDURE_CONFIGURATION',
      message: 'The configuration is not valid at "deny[1]": the parenthesis is not closed at the end.',
    });
  });

  test('decides the example of the README as it says', async () => {
    const rules = {
      allow: ['read', 'write(src/**)', 'bash(git status:*)'],
      deny: ['*(**/.env)'],
      ask: ['mcp__github'],
    };
    const policy = await setUp(rules);
    const decisions = [
      ['read', '.env', 'deny'],
      ['write', 'src/.env', 'deny'],
      ['read', 'a', 'allow'],
      ['write', 'src/a', 'allow'],
      ['bash', 'git status --short', 'allow'],
      ['bash', 'ls', 'ask'],
      ['mcp__github__issues', '{}', 'ask'],
    ] as const;
    for (const [tool, subject, decision] of decisions) {
      const effect = 'once' as const;
      const ids = { callId: 'call-1', sessionId: 'session-1', turnId: 'turn-1', workspace: '/work' };
      const call = { ...ids, tool, input: {}, effect, origin: 'model' as const, subjects: [subject] };
      expect(policy.decide(call).decision, `${tool}(${subject})`).toBe(decision);
    }
  });
});
