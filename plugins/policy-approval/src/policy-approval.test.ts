import { APPROVAL, type ApprovalPolicy } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { approvalPolicy, policyApproval } from './index.js';

async function provided(config: object): Promise<ApprovalPolicy | undefined> {
  let policy: ApprovalPolicy | undefined;
  const provide = (token: unknown, value: unknown): void => {
    if (token === APPROVAL) policy = value as ApprovalPolicy;
  };
  await policyApproval.setup({ config: policyApproval.config.parse(config), provide } as never);
  return policy;
}

describe('the plugin', () => {
  test('asks and waits without end unless it is told otherwise', async () => {
    expect(await provided({})).toEqual(approvalPolicy({ mode: 'ask', onExpiry: 'deny' }));
    expect(await provided({})).not.toHaveProperty('expiresInMs');
    const config = { mode: 'deny', expiresInMs: 60_000, onExpiry: 'allow' } as const;
    expect(await provided(config)).toMatchObject(config);
  });

  test.each<[string, object, string]>([
    ['a mode that is none', { mode: 'perhaps' }, 'mode'],
    ['a time that is none', { expiresInMs: 0 }, 'expiresInMs'],
    ['a time without end', { expiresInMs: 1e12 }, 'expiresInMs'],
    ['another option', { colour: 'red' }, 'colour'],
  ])('refuses %s', (_, config, field) => {
    const parsed = policyApproval.config.safeParse(config);
    expect(JSON.stringify(parsed.error?.issues)).toContain(field);
  });
});

test('equal settings have equal digests, and others have others', () => {
  const digest = (settings: Parameters<typeof approvalPolicy>[0]) => approvalPolicy(settings).digest;
  const base = { mode: 'ask', onExpiry: 'deny' } as const;
  expect(digest({ ...base })).toBe(digest(base));
  const others = [
    { ...base, mode: 'deny' as const },
    { ...base, expiresInMs: 5 },
    { ...base, onExpiry: 'allow' as const },
  ];
  expect(new Set([base, ...others].map(digest)).size).toBe(4);
});
