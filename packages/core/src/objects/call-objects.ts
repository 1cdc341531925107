import { PerdureError, type ObjectRequest, type ObjectResult } from '@perdure/plugin-api';
import type { CallState } from '../session/call-state.js';
import type { CallSite } from '../turn/side-call.js';
import { generateObject } from './generate-object.js';
import { checkObjectRequest } from './object-request.js';

/** The objects that models make for one running call. */
export class CallObjects {
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly ended = new AbortController();

  constructor(
    private readonly call: CallState,
    private readonly site: CallSite,
  ) {}

  readonly generate = async (request: ObjectRequest): Promise<ObjectResult<unknown>> => {
    const { name: tool } = this.call;
    if (this.ended.signal.aborted) throw new PerdureError('PERDURE_TOOL_CALL_OVER', { tool });
    const { work, held, agent, context } = this.site;
    const ending = AbortSignal.any([context.signal, this.ended.signal]);
    // The agent is that of the call's step.
    const making = generateObject(checkObjectRequest(request))({ ...work, agent: () => agent }, held, ending);
    this.underWay.add(making);
    try {
      return await making;
    } finally {
      this.underWay.delete(making);
    }
  };

  /** No further object is made, and those under way are broken off. */
  async close(): Promise<void> {
    this.ended.abort(new PerdureError('PERDURE_TOOL_CALL_OVER', { tool: this.call.name }));
    await Promise.allSettled(this.underWay);
  }
}
