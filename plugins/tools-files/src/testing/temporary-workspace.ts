import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { noCalls, type Reconciliation, type Tool, type ToolContext, type Tools } from '@perdure/plugin-api';
import { afterAll } from 'vitest';
import { createCallRecords } from '../effect/call-records.js';
import { toolsOf } from '../file-tools.js';
import { createRoot, type Anchoring } from '../root/root.js';

/** Both ways to hold folders, so that the one that this machine would not use is tested too. */
export const anchorings: readonly Anchoring[] =
  process.platform === 'linux' ? (['descriptors', 'paths'] as const) : (['paths'] as const);

export interface TemporaryWorkspace {
  readonly folder: string;
  /** A folder beside the workspace. */
  readonly outside: string;
  readonly recordFolder: string;
  readonly tools: Tools;
  write(path: string, content: string | Buffer): void;
}

const made: string[] = [];

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A workspace that is removed after the tests of the file. */
export function temporaryWorkspace(anchoring?: Anchoring): TemporaryWorkspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-tools-files-test-')));
  made.push(base);
  const [folder, outside, recordFolder] = [join(base, 'workspace'), join(base, 'outside'), join(base, 'records')];
  mkdirSync(folder);
  mkdirSync(outside);
  const records = createCallRecords(recordFolder, (error) => {
    throw error;
  });
  return {
    folder,
    outside,
    recordFolder,
    tools: toolsOf({ root: createRoot(folder, anchoring), records }),
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    },
  };
}

/** Runs work as a user that the system refuses something: root becomes another user for as long. */
export async function asOrdinaryUser<T>({ folder }: TemporaryWorkspace, work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  const user = 1234;
  chmodSync(dirname(folder), 0o755);
  for (const name of ['', ...readdirSync(folder)]) chownSync(join(folder, name), user, user);
  process.seteuid?.(user);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

export function contextOf(options: { readonly key?: string; readonly signal?: AbortSignal } = {}): ToolContext {
  return {
    toolCallId: 'call-1',
    abortSignal: options.signal ?? new AbortController().signal,
    idempotencyKey: options.key ?? randomUUID(),
    sessionId: 'session-1',
    calls: noCalls,
  };
}

/** What a tool resolved to, as tests read it. */
// The outputs of six tools are read member by member, so a loose type serves here.
export type Output = Readonly<Record<string, unknown>>;

export async function call(tool: Tool | undefined, input: object, context = contextOf()): Promise<Output> {
  if (tool === undefined) throw new Error('no such tool');
  return (await tool.execute?.(input as never, context)) as Output;
}

/** The code that a call fails with. */
export async function failure(tool: Tool | undefined, input: object, context = contextOf()): Promise<unknown> {
  try {
    await call(tool, input, context);
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
  return 'no failure';
}

export async function reconcile(tool: Tool | undefined, input: object, key: string): Promise<Reconciliation> {
  if (tool?.reconcile === undefined) throw new Error('the tool does not reconcile');
  return tool.reconcile(input as never, contextOf({ key }));
}
