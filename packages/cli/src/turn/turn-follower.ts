import type { EventEnvelopeV1 } from '@perdure/events';
import { reasonOf, type Session, type TurnResult } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodeOfFailure, exitCodes } from '../exit-code.js';
import { visible } from '../terminal/visible.js';
import type { NextCommands } from './next-commands.js';
import { jsonReporter } from './json-reporter.js';
import { ProcessSignals } from './process-signals.js';
import { deniedCall, type CallGround } from './denied-call.js';
import { TerminalReporter } from './terminal-reporter.js';
import type { DeniedCall, TurnReporter } from './turn-reporter.js';

/** A turn that goes on in this process or in another. */
export interface FollowedTurn {
  readonly events: AsyncIterable<EventEnvelopeV1>;
  /** Whether an event is the turn's last. */
  readonly isEnd: (event: EventEnvelopeV1) => boolean;
  /** Always resolves. */
  readonly finished: Promise<TurnResult>;
}

export interface FollowOptions {
  readonly ground: CallGround;
  readonly commands: NextCommands;
}

/** Names the session before its turn begins. */
export async function announceSession({ screen, json }: CliContext, session: Session): Promise<void> {
  if (!json) await screen.note(screen.style.dim(`session ${visible(session.id)}`));
}

/** One turn on the screen, from its beginning to its end or until this process is told to leave it. */
export class TurnFollower {
  readonly signals: ProcessSignals;
  private readonly reporter: TurnReporter;
  private readonly denied: DeniedCall[] = [];
  private leftWith: number | undefined;

  constructor(
    private readonly context: CliContext,
    private readonly session: Session,
    private readonly options: FollowOptions,
  ) {
    const { screen, json } = context;
    this.reporter = json ? jsonReporter(screen.out) : new TerminalReporter(screen, options.commands);
    this.signals = new ProcessSignals({ stop: () => void this.stop(), suspend: (code) => void this.leave(code) });
    // Nobody reads any more. That is no reason to end the turn: it is left where it can be resumed.
    screen.out.closed.addEventListener('abort', () => void this.leave(exitCodes.failed), { once: true });
  }

  /** Shows the turn and its end. Resolves to the exit code; throws what kept the turn from beginning. */
  async follow(turn: FollowedTurn): Promise<number> {
    try {
      for await (const event of turn.events) {
        const denied = deniedCall(event, this.options.ground);
        if (denied !== undefined) this.denied.push(denied);
        await this.reporter.event(event, denied);
        if (turn.isEnd(event)) break;
      }
    } catch (error) {
      // A turn that began and can no longer be followed here says why by how it ends.
      if ((await turn.finished).status !== 'suspended') throw error;
    }
    const result = await turn.finished;
    this.signals.dispose();
    const exitCode = this.exitCodeOf(result);
    const { resume, next } = this.options.commands;
    const unfinished = result.status === 'suspended' ? { resume } : {};
    const { denied } = this;
    await this.reporter.end({ session: this.session.id, result, denied, ...unfinished, next, exitCode });
    return exitCode;
  }

  private exitCodeOf({ status, error }: TurnResult): number {
    if (status === 'completed') return exitCodes.completed;
    if (this.leftWith !== undefined && status === 'suspended') return this.leftWith;
    if (this.signals.wasInterrupted && status !== 'failed') return exitCodes.interrupted;
    return status === 'suspended' ? exitCodeOfFailure(error?.code ?? '', exitCodes.failed) : exitCodes.failed;
  }

  private async stop(): Promise<void> {
    const { screen, json } = this.context;
    try {
      if (!json) {
        await screen.endText();
        await screen.note('stopping the turn; Ctrl-C again leaves at once');
        await screen.note(`  what is left then: ${visible(this.options.commands.resume)}`);
      }
      const { stopped } = await this.session.stop('Ctrl-C');
      if (!stopped) await this.leave(exitCodes.interrupted);
    } catch (error) {
      this.context.logger.log('error', 'The turn could not be stopped.', { reason: reasonOf(error) });
      await this.leave(exitCodes.interrupted);
    }
  }

  private async leave(exitCode: number): Promise<void> {
    this.leftWith ??= exitCode;
    try {
      await this.session.close();
    } catch (error) {
      this.context.logger.log('error', 'The session could not be let go.', { reason: reasonOf(error) });
    }
  }
}
