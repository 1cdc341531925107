import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds until a broker must be ready, or over. A busy machine needs many times what an idle one does. */
const PATIENCE = 120_000;
const STOP_PATIENCE = 20_000;

/** What the broker says when it takes clients. */
const READY = 'Kafka Server started';

/** The process of a broker. */
export class BrokerProcess {
  private child: ChildProcess | undefined;
  private readonly onExit = (): void => void this.child?.kill('SIGKILL');

  constructor(
    private readonly program: string,
    private readonly args: readonly string[],
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Throws what the broker said when it does not become ready. */
  async start(): Promise<void> {
    const child = spawn(this.program, this.args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    process.once('exit', this.onExit);
    let said = '';
    const ready = new Promise<true>((resolve) => {
      const hear = (text: string): void => {
        said = (said + text).slice(-20_000);
        if (said.includes(READY)) resolve(true);
      };
      child.stdout.setEncoding('utf8').on('data', hear);
      child.stderr.setEncoding('utf8').on('data', hear);
    });
    const over = once(child, 'exit').then(
      () => false,
      (error: unknown) => {
        said += String(error);
        return false;
      },
    );
    const waited = new AbortController();
    const isReady = await Promise.race([ready, over, delay(PATIENCE, false, { ref: false, signal: waited.signal })]);
    waited.abort();
    if (isReady) return;
    await this.end('SIGKILL');
    throw new Error(`Apache Kafka did not start: ${said.trim().slice(-3_000)}`);
  }

  /** Sends the signal and waits for the end. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    process.removeListener('exit', this.onExit);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    // One that was stopped takes no other signal than this.
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE);
    await exit;
    clearTimeout(timer);
  }
}
