import type {
  ActiveTool,
  RunEvent,
  RunEventPage,
  RunEventPageOptions,
  RunSnapshot,
  SettleOptions,
  Settlement,
} from '@perdure/plugin-api';
import type { LoadedSession } from '../session/loaded-session.js';
import type { SessionHome } from '../session/session-home.js';
import { checkOptions, checkText, invalidInput } from '../session/session-input.js';
import { stopChildrenOfTurn } from '../children/stop-children.js';
import { activeToolsOf, cancelAndSettle, requestCancel } from './cancel-run.js';
import { readRunEventPage, readRunEvents, runWindow, type RunWindow } from './run-events.js';
import { currentRunOf, listRuns, retainedRuns, runSnapshotOf, type ListedRun, type RunSight } from './run-list.js';

const LARGEST_PAGE = 1_000;
const LONGEST_GRACE_MS = 3_600_000;

/**
 * The runs of a session. Where they begin and end is in the fold, their events are in the stream and are read when
 * someone asks; between two questions nothing is held of them but where the last window began.
 */
export class RunRecords {
  private lastWindow: (RunWindow & { readonly key: string }) | undefined;

  constructor(private readonly home: SessionHome) {}

  async list(): Promise<readonly RunSnapshot[]> {
    return this.upToDate((loaded) => {
      const sight = sightOf(loaded);
      return this.retained(loaded).map((run) => runSnapshotOf(run, sight));
    });
  }

  async snapshot(runId: string): Promise<RunSnapshot | null> {
    return this.upToDate((loaded) => {
      const listed = this.find(loaded, runId);
      return listed === undefined ? null : runSnapshotOf(listed, sightOf(loaded));
    });
  }

  async events(runId: string): Promise<readonly RunEvent[]> {
    return this.upToDate(async (loaded) => {
      const listed = this.find(loaded, runId);
      return listed === undefined ? [] : readRunEvents(loaded, listed, await this.window(loaded, listed));
    });
  }

  async eventPage(runId: string, options?: RunEventPageOptions): Promise<RunEventPage | null> {
    const { afterSequence, limit = 100 } = checkOptions(options);
    if (afterSequence !== undefined) checkNumber('afterSequence', afterSequence, 0, Number.MAX_SAFE_INTEGER);
    checkNumber('limit', limit, 1, LARGEST_PAGE);
    return this.upToDate(async (loaded) => {
      const listed = this.find(loaded, runId);
      if (listed === undefined) return null;
      return readRunEventPage(loaded, listed, await this.window(loaded, listed), { afterSequence, limit });
    });
  }

  async current(): Promise<RunSnapshot | null> {
    return this.upToDate((loaded) => {
      const listed = currentRunOf(loaded.work.journal.state);
      return listed === undefined ? null : runSnapshotOf(listed, sightOf(loaded));
    });
  }

  async activeTools(): Promise<readonly ActiveTool[]> {
    return this.upToDate(({ work }) => activeToolsOf(work.journal.state));
  }

  async cancel(runId: string): Promise<boolean> {
    checkText('runId', runId);
    return this.upToDate(async (loaded) => {
      const asked = await requestCancel(loaded.work.journal, runId, 'cancelled');
      if (asked === undefined) return false;
      await stopChildrenOfTurn(loaded.work, 'cancelled');
      // Nobody may have the session, when it waited for people.
      await loaded.runIfSupplied();
      return true;
    });
  }

  async cancelAndSettle(options?: SettleOptions): Promise<Settlement> {
    const { graceMs = 2_000, abortGraceMs = 1_000 } = checkOptions(options);
    checkNumber('graceMs', graceMs, 0, LONGEST_GRACE_MS);
    checkNumber('abortGraceMs', abortGraceMs, 0, LONGEST_GRACE_MS);
    return this.upToDate(async (loaded) => {
      const settled = await cancelAndSettle(loaded, graceMs, abortGraceMs);
      const run = listRuns(loaded.work.journal.state).find(({ id }) => id === settled.runId);
      return { ...settled, status: run === undefined ? null : runSnapshotOf(run, sightOf(loaded)).status };
    });
  }

  private retained(loaded: LoadedSession): readonly ListedRun[] {
    return retainedRuns(loaded.work.journal.state, this.home.retention().maxRunsRetained);
  }

  private find(loaded: LoadedSession, runId: string): ListedRun | undefined {
    checkText('runId', runId);
    return this.retained(loaded).find(({ id }) => id === runId);
  }

  /** Whoever pages through a run asks for the same window again and again. */
  private async window(loaded: LoadedSession, listed: ListedRun): Promise<RunWindow> {
    const limits = this.home.retention();
    const end = listed.run?.last ?? loaded.work.journal.head;
    const key = JSON.stringify([listed.id, end, limits]);
    if (this.lastWindow?.key !== key) this.lastWindow = { key, ...(await runWindow(loaded, listed, limits)) };
    return this.lastWindow;
  }

  private upToDate<Result>(look: (loaded: LoadedSession) => Result | Promise<Result>): Promise<Result> {
    return this.home.use(async (loaded) => {
      await loaded.work.journal.refresh();
      return look(loaded);
    });
  }
}

function sightOf({ work, index }: LoadedSession): RunSight {
  const { state, head, time } = work.journal;
  return { sessionId: work.key.id, state, index, head, time };
}

function checkNumber(field: string, value: unknown, least: number, most: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return;
  throw invalidInput(field, `it is a whole number from ${least} to ${most}`);
}
