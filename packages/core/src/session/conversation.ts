import {
  PerdureError,
  type PromptLike,
  type ResumeOptions,
  type TurnHandle,
  type TurnResult,
  type TurnStream,
} from '@perdure/plugin-api';
import { calledCommand } from '../commands/called-command.js';
import { runCommand } from '../commands/run-command.js';
import { acceptAndRun } from './accept-prompt.js';
import type { LoadedSession } from './loaded-session.js';
import { checkPrompt } from './prompt-input.js';
import { resumeRun } from './resume-run.js';
import type { SessionHome } from './session-home.js';
import { checkResumeOptions, checkText } from './session-input.js';
import { commandHandle, turnHandle } from './turn-handle.js';
import { streamedCommand, streamedTurn, turnStream } from './turn-stream.js';

/** What an operation came to. A turn goes on whether or not the session stays in memory. */
interface Begun<Result> {
  readonly finished: Result | Promise<Result>;
}

/**
 * What changes the conversation of a session: prompts, commands, resumes. `send`, `stream`, commands and resumes hold
 * it while they last, and none of them begins while another does.
 */
export class Conversation {
  private held: { readonly operation: string; readonly runId: string | undefined } | undefined;
  private resuming: { readonly runId: string; readonly result: Promise<TurnResult> } | undefined;

  constructor(private readonly home: SessionHome) {}

  async prompt(input: PromptLike): Promise<TurnHandle> {
    const prompt = checkPrompt(input, 'steer');
    const called = calledCommand(prompt);
    if (called !== undefined) {
      const run = async (loaded: LoadedSession) => ({ finished: await runCommand(called, loaded, this.home) });
      return commandHandle(await this.exclusively('command', run));
    }
    return this.home.use(async (loaded) => {
      const accepted = await acceptAndRun(loaded, prompt, this.home);
      return turnHandle(this.home, accepted, loaded.finished(accepted.turnId));
    });
  }

  async send(input: PromptLike): Promise<TurnResult> {
    const prompt = checkPrompt(input, 'reject');
    const called = calledCommand(prompt);
    const send = async (loaded: LoadedSession): Promise<Begun<TurnResult>> => {
      if (called !== undefined) return { finished: (await runCommand(called, loaded, this.home)).result };
      return { finished: loaded.finished((await acceptAndRun(loaded, prompt, this.home)).turnId) };
    };
    return this.exclusively('send', send, prompt.runId);
  }

  stream(input: PromptLike): TurnStream {
    const prompt = checkPrompt(input, 'reject');
    const called = calledCommand(prompt);
    return turnStream(this.home, (accepted) => {
      const stream = async (loaded: LoadedSession): Promise<Begun<TurnResult>> => {
        if (called !== undefined) {
          const ran = await runCommand(called, loaded, this.home);
          accepted(streamedCommand(ran));
          return { finished: ran.result };
        }
        const before = loaded.work.journal.head;
        const turn = await acceptAndRun(loaded, prompt, this.home);
        accepted(streamedTurn(loaded, turn, before));
        // The conversation is free when the producer has ended, whether or not anyone still reads.
        return { finished: loaded.finished(turn.turnId) };
      };
      return this.exclusively('stream', stream, prompt.runId);
    });
  }

  async resumeRun(runId: string, options?: ResumeOptions): Promise<TurnResult> {
    const checked = checkResumeOptions(options);
    checkText('runId', runId);
    // However many ask for one run, it is resumed once.
    if (this.resuming?.runId === runId) return this.resuming.result;
    const result = this.exclusively('resumeRun', (loaded) => resumeRun(loaded, runId, checked));
    if (this.held?.operation === 'resumeRun') this.resuming = { runId, result };
    return result.finally(() => {
      if (this.resuming?.result === result) this.resuming = undefined;
    });
  }

  /**
   * Runs an operation that no other of its kind may overlap. The refusal comes before anything is read. The start of a
   * run that is being started does not overlap itself.
   */
  private exclusively<Result>(
    operation: string,
    begin: (loaded: LoadedSession) => Promise<Begun<Result>>,
    runId?: string,
  ): Promise<Result> {
    const { held, home } = this;
    const ended = (): Promise<Result> => home.use(begin).then(({ finished }) => finished);
    if (held !== undefined && runId !== undefined && held.runId === runId) return ended();
    if (held !== undefined) {
      return Promise.reject(new PerdureError('PERDURE_SESSION_BUSY', { session: home.key.id, turn: held.operation }));
    }
    this.held = { operation, runId };
    return ended().finally(() => {
      this.held = undefined;
    });
  }
}
