import { setMaxListeners } from 'node:events';
import type { EffectContract, JsonValue } from '@perdure/events';
import {
  PerdureError,
  type AskOptions,
  type AskOutcome,
  type QuestionSet,
  type ToolOutcome,
} from '@perdure/plugin-api';
import { digestOf } from '../host/sha256.js';
import { callIdOf } from '../invoke/call-id.js';
import type { CallParts } from '../invoke/tool-invoker.js';
import { canonicalJson } from '../session/canonical-json.js';
import { assertOwner } from '../session/ownership.js';
import { checkCall } from '../session/session-input.js';
import type { CallState } from '../session/call-state.js';
import { checkQuestions, questionKey, type PeopleRequest } from './ask-people.js';
import type { CallSite, SideCall } from './side-call.js';
import { settleParts } from './side-call-state.js';

/** Of what a call is a part. */
export interface Nesting {
  /** Names of the tools, the outermost first. */
  readonly within: readonly string[];
  /** Whether the host vouches for the outermost. */
  readonly isTrusted: boolean;
}

export const outermost: Nesting = { within: [], isTrusted: false };

/** The parts of one running call. */
export class NestedCalls implements CallParts {
  private readonly made = new Map<string, number>();
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly ended = new AbortController();
  private readonly site: CallSite;
  private count = 0;
  /** Whoever goes on with the session has parts of this call to see to. */
  private isLeftOpen = false;

  constructor(
    private readonly whole: CallState,
    private readonly nesting: Nesting,
    site: CallSite,
    private readonly make: (request: SideCall, site: CallSite) => Promise<ToolOutcome>,
    private readonly askPeople: (request: PeopleRequest, site: CallSite) => Promise<AskOutcome>,
  ) {
    setMaxListeners(0, this.ended.signal);
    const signal = AbortSignal.any([site.context.signal, this.ended.signal]);
    setMaxListeners(0, signal);
    this.site = { ...site, context: { ...site.context, signal } };
  }

  effectOf(tool: string): EffectContract | undefined {
    const { agent, context } = this.site;
    return agent.toolSet(context.workspace).tools.get(tool)?.effect;
  }

  async call(tool: string, input: JsonValue): Promise<ToolOutcome> {
    this.throwIfOver(tool);
    const [name, given] = checkCall(tool, input);
    this.countPart();
    const { callId: parent, name: outer } = this.whole;
    const call = this.make(
      {
        callId: this.nextId(name, this.site.work.redaction.redact(given)),
        name,
        input: given,
        origin: 'nested',
        parent,
        isTrusted: this.nesting.isTrusted,
        within: [...this.nesting.within, outer],
      },
      this.site,
    );
    this.underWay.add(call);
    try {
      const outcome = await call;
      const wasBroken = outcome.status === 'cancelled' || outcome.status === 'unknown';
      if (wasBroken && this.site.isHandingOver()) this.isLeftOpen = true;
      return outcome;
    } finally {
      this.underWay.delete(call);
    }
  }

  readonly ask = async (given: QuestionSet, { signal }: AskOptions = {}): Promise<AskOutcome> => {
    const { whole, site } = this;
    this.throwIfOver(whole.name);
    const questions = checkQuestions(given);
    this.countPart();
    // No tool has such a name.
    const callId = this.nextId('?', site.work.redaction.redact(questionKey(questions)));
    const context =
      signal === undefined ? site.context : { ...site.context, signal: AbortSignal.any([site.context.signal, signal]) };
    const asking = this.askPeople({ callId, whole, questions }, { ...site, context });
    this.underWay.add(asking);
    try {
      return await asking;
    } catch (error) {
      if (site.isHandingOver()) this.isLeftOpen = true;
      throw error;
    } finally {
      this.underWay.delete(asking);
    }
  };

  async close(): Promise<void> {
    this.ended.abort(new PerdureError('PERDURE_TOOL_CALL_OVER', { tool: this.whole.name }));
    await Promise.allSettled(this.underWay);
    const { work, held, isHandingOver } = this.site;
    const { callId, name: tool } = this.whole;
    const isOpen = work.journal.state.nestedCalls.some((call) => call.parent === callId && call.settled === undefined);
    // Whatever the tool made of it, the call is not over.
    if (isHandingOver() && (isOpen || this.isLeftOpen)) throw new PerdureError('PERDURE_TOOL_CALL_OVER', { tool });
    if (!isOpen) return;
    // A part that an earlier run of the whole began and this one did not ask for.
    await work.journal.commit((batch) => {
      assertOwner(batch, held, work.key.id);
      settleParts(batch, callId, work);
    }, 'owner');
  }

  private throwIfOver(tool: string): void {
    if (this.ended.signal.aborted) throw new PerdureError('PERDURE_TOOL_CALL_OVER', { tool });
  }

  private countPart(): void {
    const { maxNestedCalls: limit } = this.site.agent.parts.limits;
    this.count += 1;
    if (this.count > limit) throw new PerdureError('PERDURE_TOOL_CALL_LIMIT', { limit });
  }

  /** The same for the same part in every run of the whole, in whatever order parts are asked for. */
  private nextId(tool: string, input: JsonValue): string {
    const part = `${tool} ${digestOf(canonicalJson(input))}`;
    const before = this.made.get(part) ?? 0;
    this.made.set(part, before + 1);
    return callIdOf(this.whole.callId, part, before);
  }
}
