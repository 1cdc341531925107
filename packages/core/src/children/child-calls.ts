import { setMaxListeners } from 'node:events';
import { errorMessage, PerdureError, type ChildLimits, type ChildReport, type ChildTask } from '@perdure/plugin-api';
import type { AgentDefinition, ScopedChildren } from '@perdure/plugin-api';
import type { CallState } from '../session/call-state.js';
import { assertOwner } from '../session/ownership.js';
import { invalidInput } from '../session/session-input.js';
import { settledWithin } from '../session/settled-within.js';
import { assertLeased } from '../turn/assert-leased.js';
import type { CallSite } from '../turn/side-call.js';
import { isStopped } from '../turn/side-call-state.js';
import { endOfChild, unlessAborted, unlessClosed } from './child-end.js';
import { childIdOf, workIdsOf } from './child-ids.js';
import { lookAtChild, reportOfEnd } from './child-report.js';
import { launchChild } from './launch-child.js';
import { definitionOf, profileUnder } from './make-profile.js';
import { addStarts, recordEnd, type ChildDraft } from './record-child.js';
import { stopChildren } from './stop-children.js';
import { tellProgress } from './tell-progress.js';

/** Milliseconds in which children that a call leaves behind should come to their end before it is settled. */
const END_MS = 1_500;

/** The children of one running call. */
export class CallChildren implements ScopedChildren {
  private count = 0;
  private readonly ends = new Map<string, Promise<ChildReport>>();
  private readonly over = new AbortController();

  constructor(
    private readonly call: CallState,
    private readonly site: CallSite,
  ) {
    setMaxListeners(0, this.over.signal);
    const { signal } = site.context;
    const onAbort = (): void => {
      if (site.isHandingOver()) this.end();
      else void this.stopOpen('stopped').catch((error: unknown) => this.report(error));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.over.signal.addEventListener('abort', () => signal.removeEventListener('abort', onAbort));
  }

  get agents(): readonly AgentDefinition[] {
    return this.site.agent.definitions;
  }

  async start(tasks: readonly ChildTask[], limits: ChildLimits): Promise<readonly string[]> {
    this.assertOpen();
    const drafts = tasks.map((task, place) => this.draftOf(task, this.count + place));
    this.count += tasks.length;
    const { work, held, context } = this.site;
    for (let isDone = false; !isDone;) {
      isDone = await work.journal.commit((batch) => {
        assertOwner(batch, held, work.key.id);
        const before = batch.state.children.length;
        const areAll = addStarts(batch, drafts, limits, context);
        // Nothing of a turn starts after its stop; what was started before goes to its end.
        if (batch.state.children.length > before && isStopped(batch.state, this.call)) {
          throw new PerdureError('PERDURE_TOOL_CANCELLED', { tool: this.call.name });
        }
        return areAll;
      }, 'owner');
    }
    await assertLeased(work, held);
    const ids = drafts.map(({ childId }) => childId);
    await Promise.all(ids.map((id, place) => this.launch(id, tasks[place]?.prompt ?? '')));
    return ids;
  }

  wait(id: string): Promise<ChildReport> {
    this.assertOpen();
    const child = this.find(id);
    if (child === undefined || child.background === true) return this.waitBeside(id);
    return unlessAborted(this.follow(id), this.over.signal);
  }

  async look(id: string): Promise<ChildReport> {
    this.assertOpen();
    return lookAtChild(id, this.site.work);
  }

  list(): readonly string[] {
    return this.site.work.journal.state.children.map(({ childId }) => childId);
  }

  async stop(id: string, reason?: string): Promise<void> {
    this.assertOpen();
    const child = this.find(id);
    if (child === undefined) {
      // One that has ended has nothing left to stop.
      await lookAtChild(id, this.site.work);
      return;
    }
    await stopChildren(this.site.work, [child], reason);
  }

  /** What the call waited for ends with it. Whoever goes on with a session that leaves finds its children at work. */
  async close(): Promise<void> {
    if (this.site.isHandingOver()) return this.end();
    if (this.openOnes().length > 0) {
      await this.stopOpen('the call that waited for it is over');
      await settledWithin(new Set(this.openOnes().map(({ childId }) => this.follow(childId))), END_MS);
    }
    this.end();
  }

  private end(): void {
    this.over.abort(new PerdureError('PERDURE_TOOL_CALL_OVER', { tool: this.call.name }));
  }

  private assertOpen(): void {
    this.over.signal.throwIfAborted();
  }

  private find(id: string) {
    return this.site.work.journal.state.children.find(({ childId }) => childId === id);
  }

  /** Children that the call waits for and that have not ended. */
  private openOnes() {
    return this.site.work.journal.state.children.filter(
      ({ delegation, background, ended }) =>
        delegation.callId === this.call.callId && background === undefined && ended === undefined,
    );
  }

  private stopOpen(reason: string): Promise<void> {
    return unlessClosed(() => stopChildren(this.site.work, this.openOnes(), reason), this.over.signal);
  }

  private draftOf({ agent: name, description, prompt, background }: ChildTask, index: number): ChildDraft {
    const { work, agent, held } = this.site;
    if (typeof prompt !== 'string' || prompt.trim() === '') throw invalidInput(`tasks.${index}.prompt`, 'it is empty');
    const definition = definitionOf(agent, name);
    const { state } = work.journal;
    const model = definition.model ?? state.model;
    if (model !== undefined) agent.model(model);
    const { callId } = this.call;
    const childId = childIdOf(work.key.id, callId, index);
    return {
      childId,
      description,
      ...(background === true ? { background } : {}),
      ...(model === undefined ? {} : { model }),
      delegation: { callId, index, parentEpoch: held.epoch, turnId: workIdsOf(childId).turnId },
      profile: profileUnder(definition, agent, state),
    };
  }

  private async launch(id: string, prompt: string): Promise<void> {
    const child = this.find(id);
    // One that ended in the background is told of already.
    if (child === undefined || child.ended !== undefined) return;
    await unlessClosed(() => launchChild(child, prompt, this.site.work), this.over.signal);
    if (child.background === undefined) this.follow(id).catch((error: unknown) => this.report(error));
  }

  /** The end of a child that the call waits for, recorded once it is there. */
  private follow(id: string): Promise<ChildReport> {
    const known = this.ends.get(id);
    if (known !== undefined) return known;
    const end = this.endOf(id);
    this.ends.set(id, end);
    return end;
  }

  private async endOf(id: string): Promise<ChildReport> {
    const child = this.find(id);
    if (child === undefined) throw new PerdureError('PERDURE_CHILD_UNKNOWN', { child: id });
    if (child.ended !== undefined) return reportOfEnd(child, child.ended);
    const { work, held, context } = this.site;
    const end = await endOfChild(child, work, this.over.signal, tellProgress(child, work.feed));
    await recordEnd(end, context, work, held);
    return reportOfEnd(child, end);
  }

  /** The end of a child in the background, which is recorded by whoever watches over them. */
  private async waitBeside(id: string): Promise<ChildReport> {
    const child = this.find(id);
    if (child === undefined) return lookAtChild(id, this.site.work);
    const aborts = AbortSignal.any([this.over.signal, this.site.context.signal]);
    return reportOfEnd(child, await endOfChild(child, this.site.work, aborts));
  }

  private report(error: unknown): void {
    if (this.over.signal.aborted) return;
    const reason = error instanceof Error ? error.message : errorMessage('PERDURE_INTERNAL', { reason: String(error) });
    this.site.work.logger.log('warn', 'A child session is not looked after at the moment.', { reason });
  }
}
