import { constants } from 'node:os';

export interface SignalHandlers {
  /** The first Ctrl-C. */
  readonly stop: () => void;
  /** Someone ends this process: SIGTERM, or the terminal went away. */
  readonly suspend: (exitCode: number) => void;
}

/** The signals of a command that runs a turn. A second Ctrl-C ends the process at once. */
export class ProcessSignals {
  private interrupts = 0;

  constructor(private readonly handlers: SignalHandlers) {
    process.on('SIGINT', this.interrupt).on('SIGTERM', this.terminate).on('SIGHUP', this.hangUp);
  }

  /** Whether Ctrl-C was pressed. */
  get wasInterrupted(): boolean {
    return this.interrupts > 0;
  }

  readonly interrupt = (): void => {
    this.interrupts += 1;
    if (this.interrupts > 1) process.exit(codeOf('SIGINT'));
    this.handlers.stop();
  };

  dispose(): void {
    process.off('SIGINT', this.interrupt).off('SIGTERM', this.terminate).off('SIGHUP', this.hangUp);
  }

  private readonly terminate = (): void => this.handlers.suspend(codeOf('SIGTERM'));
  private readonly hangUp = (): void => this.handlers.suspend(codeOf('SIGHUP'));
}

function codeOf(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): number {
  return 128 + constants.signals[signal];
}

/** A signal that aborts with the first Ctrl-C, for commands that follow something until they are stopped. */
export function untilInterrupted(): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.once('SIGINT', abort);
  return { signal: controller.signal, dispose: () => process.off('SIGINT', abort) };
}
