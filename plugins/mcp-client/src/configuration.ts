import { isAbsolute } from 'node:path';
import { z } from 'zod';

const MEBIBYTE = 1024 * 1024;
const SECOND = 1_000;

/** Names of variables that hold secrets by all custom: their values are registered and given by reference. */
const SECRET_NAME = /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_AUTH$|^SSH_AUTH/i;

const text = z.string().regex(/^[^\0]*$/, 'must not contain a NUL character');
const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
  .refine((name) => !name.startsWith('LD_'), 'variables of the loader are not handed in');
const amount = z.int().positive();

/** Part of the names of tools: no two servers can come to the same name. */
export const serverName = z
  .string()
  .regex(/^[A-Za-z0-9](?:[_-]?[A-Za-z0-9])*$/, 'must have letters and digits, and single "_" or "-" between them')
  .max(32);

const options = {
  enabled: z.boolean().default(true),
  trust: z.enum(['none', 'hints']).default('none'),
  confirm: z.enum(['destructive', 'always', 'never']).default('destructive'),
  tools: z.array(z.string().min(1)).optional(),
  connectTimeoutMs: amount.max(600 * SECOND).default(15 * SECOND),
  timeoutMs: amount.max(86_400 * SECOND).default(60 * SECOND),
  maxTimeoutMs: amount.max(86_400 * SECOND).default(600 * SECOND),
  /** Bytes of the longest message of the server that is read. */
  maxMessageBytes: amount
    .min(64 * 1024)
    .max(256 * MEBIBYTE)
    .default(16 * MEBIBYTE),
};

const stdio = z.strictObject({
  command: text.min(1),
  args: z.array(text).default([]),
  workingDirectory: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
  environment: z
    .array(
      variableName.refine((name) => !SECRET_NAME.test(name), 'register it as a secret, and refer to it in variables'),
    )
    .default([]),
  variables: z.record(variableName, text).default({}),
  ...options,
});

const http = z.strictObject({
  url: z.string().refine(isHttpUrl, 'must be an http or https URL without user and password'),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header'), headerValue())
    .default({}),
  ...options,
});

/** A server as it is configured. */
export type ServerConfiguration = z.output<typeof stdio> | z.output<typeof http>;

export const mcpConfiguration = z.strictObject({
  /** The servers of all sessions, by name. */
  servers: z.record(serverName, z.unknown()).default({}),
});
export type McpOptions = z.input<typeof mcpConfiguration>;

/** What is wrong with a setting, or what it comes to. */
export function readServer(
  setting: unknown,
):
  | { readonly ok: true; readonly config: ServerConfiguration }
  | { readonly ok: false; readonly field: string; readonly reason: string } {
  const given = typeof setting === 'object' && setting !== null ? setting : {};
  if ('command' in given === 'url' in given) {
    return { ok: false, field: '', reason: 'must have one of command and url' };
  }
  const read = ('command' in given ? stdio : http).safeParse(given);
  if (read.success) return { ok: true, config: read.data };
  const [issue] = read.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return { ok: false, field: [...(issue?.path ?? []), ...unknown].join('.'), reason: issue?.message ?? 'not valid' };
}

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function headerValue() {
  return z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');
}
