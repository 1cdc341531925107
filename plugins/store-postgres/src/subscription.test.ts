import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FactBatch } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import type { Pager } from './pagers.js';
import { Subscription } from './subscription.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const fact = { stream: 's', revision: 0, position: '', id: '', type: 'A', payload: '{}', metadata: '{}' };

test('a subscription keeps no page in memory that it has handed over', async () => {
  const pages: WeakRef<FactBatch>[] = [];
  const pager: Pager = {
    stream: undefined,
    nextPage: async () => {
      const page = { facts: [fact], caughtUp: false };
      pages.push(new WeakRef(page));
      return page;
    },
    take: () => undefined,
  };
  const subscription = new Subscription(pager);
  const following = subscription.pages();
  for (let count = 0; count < 50; count++) await following.next();
  await new Promise((resolve) => setTimeout(resolve));
  collectGarbage();
  expect(pages.filter((page) => page.deref() !== undefined).length).toBeLessThan(10);
  subscription.end();
  expect((await following.next()).done).toBe(true);
});

test('a subscription that ends while it reads does not wait for the page', async () => {
  const pager: Pager = { stream: undefined, nextPage: () => new Promise(() => undefined), take: () => undefined };
  const subscription = new Subscription(pager);
  const next = subscription.pages().next();
  await new Promise((resolve) => setTimeout(resolve));
  subscription.end();
  expect((await next).done).toBe(true);
});
