import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { RelayStatus } from '@perdure/relay-kafka';
import { bundle } from '../fixtures/bundle.js';
import type { RelayOrder } from './relay-process.fixture.js';

/** Relays in processes of their own, which are killed and started again. */
export class RelayProcesses {
  private readonly running = new Map<string, { readonly child: ChildProcess; status?: RelayStatus }>();
  private program: string | undefined;

  constructor(private readonly order: Omit<RelayOrder, 'node'>) {}

  async start(node: string): Promise<void> {
    this.program ??= await bundle(new URL('relay-process.fixture.ts', import.meta.url));
    const child = fork(this.program, [JSON.stringify({ ...this.order, node })], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const entry: { readonly child: ChildProcess; status?: RelayStatus } = { child };
    child.on('message', (status: RelayStatus) => {
      entry.status = status;
    });
    this.running.set(node, entry);
  }

  /** The node that has the right to relay, as far as one has said so. */
  owner(): string | undefined {
    return [...this.running].find(([, { status }]) => (status?.epoch ?? 0) > 0)?.[0];
  }

  /** Whether that node, or any, has sent something and has more to send, as far as it has said so. */
  isAtWork(node?: string): boolean {
    return [...this.running].some(
      ([name, { status }]) => name === (node ?? name) && (status?.transactions ?? 0) > 0 && status?.caughtUp === false,
    );
  }

  statuses(): readonly (RelayStatus | undefined)[] {
    return Array.from(this.running.values(), ({ status }) => status);
  }

  async kill(node: string): Promise<void> {
    const child = this.running.get(node)?.child;
    this.running.delete(node);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    for (const node of [...this.running.keys()]) await this.kill(node);
  }
}
