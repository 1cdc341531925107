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
import { digestOf } from '../host/sha256.js';
import { acceptPrompt, type AcceptedPrompt } from './accept-input.js';
import { canonicalJson } from './canonical-json.js';
import type { LoadedSession } from './loaded-session.js';
import { promptAfterHooks } from './prompt-hooks.js';
import { checkPrompt, type CheckedPrompt } from './prompt-input.js';
import { resumeRun } from './resume-run.js';
import type { SessionHome } from './session-home.js';
import { checkResumeOptions, checkText } from './session-input.js';
import { commandHandle, turnHandle } from './turn-handle.js';
import { streamedCommand, streamedTurn, turnStream } from './turn-stream.js';

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
      return commandHandle(await this.exclusively('command', (loaded) => runCommand(called, loaded, this.home)));
    }
    const loaded = await this.home.load();
    return turnHandle(loaded, await this.accept(loaded, prompt));
  }

  async send(input: PromptLike): Promise<TurnResult> {
    const prompt = checkPrompt(input, 'reject');
    const called = calledCommand(prompt);
    const send = async (loaded: LoadedSession): Promise<TurnResult> => {
      if (called !== undefined) return (await runCommand(called, loaded, this.home)).result;
      return loaded.finished((await this.accept(loaded, prompt)).turnId);
    };
    return this.exclusively('send', send, prompt.runId);
  }

  stream(input: PromptLike): TurnStream {
    const prompt = checkPrompt(input, 'reject');
    const called = calledCommand(prompt);
    return turnStream(this.home.key.id, (accepted) => {
      const stream = async (loaded: LoadedSession): Promise<TurnResult> => {
        if (called !== undefined) {
          const ran = await runCommand(called, loaded, this.home);
          accepted(streamedCommand(loaded, ran));
          return ran.result;
        }
        const before = loaded.work.journal.head;
        const turn = await this.accept(loaded, prompt);
        accepted(streamedTurn(loaded, turn, before));
        // The conversation is free when the producer has ended, whether or not anyone still reads.
        return loaded.finished(turn.turnId);
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
    work: (loaded: LoadedSession) => Promise<Result>,
    runId?: string,
  ): Promise<Result> {
    const { held, home } = this;
    if (held !== undefined && runId !== undefined && held.runId === runId) return home.load().then(work);
    if (held !== undefined) {
      return Promise.reject(new PerdureError('PERDURE_SESSION_BUSY', { session: home.key.id, turn: held.operation }));
    }
    this.held = { operation, runId };
    return home
      .load()
      .then(work)
      .finally(() => {
        this.held = undefined;
      });
  }

  private async accept(loaded: LoadedSession, prompt: CheckedPrompt): Promise<AcceptedPrompt> {
    const { redaction, key } = loaded.work;
    const runId = prompt.runId === undefined ? undefined : redaction.redactText(prompt.runId);
    const run =
      runId === undefined ? undefined : { runId, digest: digestOf(canonicalJson(redaction.redact(prompt.parts))) };
    const claimed = run === undefined ? key.id : this.home.runIds.claim(key, run.runId);
    if (run !== undefined && claimed !== key.id) {
      throw new PerdureError('PERDURE_RUN_IDENTITY_CONFLICT', { run: run.runId, session: claimed });
    }
    try {
      const checked = await promptAfterHooks(prompt, loaded);
      const accepted = await loaded.accept((batch, ids) => {
        const promptId = checked.promptId === undefined ? ids.promptId : redaction.redactText(checked.promptId);
        return acceptPrompt(batch, key.id, { ...checked, run }, { promptId, turnId: ids.turnId }, loaded.index);
      });
      await loaded.run({ insist: false });
      return accepted;
    } catch (error) {
      // What was not accepted may be asked for in another session.
      if (run !== undefined && loaded.index.turnOfRunId(run.runId) === undefined)
        this.home.runIds.release(key, run.runId);
      throw error;
    }
  }
}
