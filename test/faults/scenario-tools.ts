import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFiles, type ToolContext, type Tools } from '@perdure/plugin-api';
import { PNG } from '../fixtures/image.js';

/** Tools whose effects are files of the workspace; every start is a line of `log`. */
export function scenarioTools(workspace: string, log: string): Tools {
  const inputSchema = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
  const ran = (tool: string, key: string): void => appendFileSync(log, `${tool} ${key}\n`);
  const ledger = join(workspace, 'ledger');
  const mails = join(workspace, 'mails');
  const booked = (key: string): boolean => existsSync(ledger) && readFileSync(ledger, 'utf8').split('\n').includes(key);
  return {
    peek: {
      inputSchema,
      effect: 'read',
      execute: async ({ key }: { key: string }) => {
        ran('peek', key);
        await new Promise((resolve) => setTimeout(resolve, key === 'a' ? 15 : 2));
        return { seen: key };
      },
    },
    put: {
      inputSchema,
      effect: 'idempotent',
      execute: ({ key }: { key: string }) => {
        ran('put', key);
        writeFileSync(join(workspace, `put-${key}`), key);
        return `put ${key}`;
      },
    },
    pay: {
      inputSchema,
      effect: 'reconcile',
      execute: ({ key }: { key: string }) => {
        ran('pay', key);
        appendFileSync(ledger, `${key}\n`);
        return `paid ${key}`;
      },
      reconcile: ({ key }: { key: string }) =>
        Promise.resolve(booked(key) ? { status: 'happened', output: `paid ${key}` } : { status: 'voided' }),
    },
    mail: {
      inputSchema,
      execute: ({ key }: { key: string }) => {
        ran('mail', key);
        appendFileSync(mails, `${key}\n`);
        return `sent ${key}`;
      },
    },
    asked: {
      inputSchema,
      effect: 'idempotent',
      execute: ({ key }: { key: string }) => `asked about ${key}`,
    },
    where: {
      inputSchema,
      questions: ({ key }: { key: string }) => ({
        title: `About ${key}`,
        questions: [{ kind: 'text', id: 'place', prompt: 'Where to?' }],
      }),
    },
    inquire: {
      inputSchema,
      effect: 'idempotent',
      execute: async ({ key }: { key: string }, { ask }: ToolContext) => {
        ran('inquire', key);
        return ask?.({ questions: [{ kind: 'text', id: 'place', prompt: 'Where to?' }] });
      },
    },
    large: {
      inputSchema,
      effect: 'read',
      execute: () => 'many words '.repeat(200),
    },
    camera: {
      inputSchema,
      effect: 'read',
      execute: ({ key }: { key: string }) => withFiles({ taken: key }, [{ bytes: PNG, filename: `${key}.png` }]),
    },
    several: {
      inputSchema,
      effect: 'idempotent',
      execute: async ({ key }: { key: string }, { calls }: ToolContext) => {
        const seen = await Promise.all([calls.call('peek', { key: 'a' }), calls.call('peek', { key })]);
        const done = [];
        for (const tool of ['put', 'pay', 'mail']) done.push(await calls.call(tool, { key }));
        return [...seen, ...done].map(({ status, output = null }) => [status, output]);
      },
    },
    linger: {
      inputSchema,
      effect: 'read',
      execute: (_: object, { abortSignal }: { abortSignal: AbortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(new Error('told to end')));
        }),
    },
  } as Tools;
}
