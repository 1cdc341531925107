import type { LaneOptions } from '@perdure/plugin-api';
import type { BoundTool } from '../compose/tool-set.js';
import type { CallState } from '../session/call-state.js';

/** Leaves the lane. */
export type Leave = () => void;

/** What keeps a call from its turn: the lane's time is over, or the call was told to end. */
export type Kept = { readonly lane: string; readonly waitedMs: number } | 'aborted';

interface Lane {
  readonly options: LaneOptions;
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * How many calls of an agent run at the same time in this process, lane by lane. Calls come to their turn in the order
 * in which they began to wait. A lane that is not set up has no end.
 */
export class CallLanes {
  private readonly lanes: ReadonlyMap<string, Lane>;

  constructor(options: Readonly<Record<string, LaneOptions>>) {
    this.lanes = new Map(
      Object.entries(options).map(([name, lane]) => [name, { options: lane, running: 0, waiting: [] }]),
    );
  }

  /** Resolves when it is the call's turn. A part runs in the turn of its whole: it could wait for itself. */
  async enter({ origin }: CallState, { tool, effect }: BoundTool, signal: AbortSignal): Promise<Leave | Kept> {
    const name = tool.lane ?? (effect === 'read' ? 'query' : 'execute');
    const lane = this.lanes.get(name);
    if (lane === undefined || origin === 'nested') return () => undefined;
    if (lane.running >= lane.options.concurrency) {
      const kept = await waitIn(lane, signal);
      if (kept === 'timeout') return { lane: name, waitedMs: lane.options.timeoutMs ?? 0 };
      if (kept !== undefined) return kept;
    } else lane.running += 1;
    return () => {
      const next = lane.waiting.shift();
      // The place goes on to the next one without being free in between.
      if (next === undefined) lane.running -= 1;
      else next();
    };
  }
}

function waitIn(
  { options: { timeoutMs }, waiting }: Lane,
  signal: AbortSignal,
): Promise<'timeout' | 'aborted' | undefined> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const end = (reason?: 'timeout' | 'aborted'): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      const at = waiting.indexOf(admit);
      if (at >= 0) waiting.splice(at, 1);
      resolve(reason);
    };
    const admit = (): void => end();
    const onAbort = (): void => end('aborted');
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timeout'), timeoutMs);
    signal.addEventListener('abort', onAbort);
    waiting.push(admit);
  });
}
