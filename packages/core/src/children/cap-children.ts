import type { ApprovalMode } from '@perdure/events';
import type { ChildState } from '../session/child-state.js';
import type { PendingChange, SessionState } from '../session/session-state.js';
import { NODE } from '../turn/record-intent.js';
import type { SessionWork } from '../turn/session-work.js';
import { unlessClosed } from './child-end.js';
import { isStricter, stricterMode } from './stricter.js';

type ParentWork = Pick<SessionWork, 'key' | 'journal' | 'children'>;

/**
 * Tells the children of a session of a stricter approval mode as soon as that is asked for, and in any case before it
 * takes effect: none of them goes on with more than the session may.
 */
export class ChildModes {
  private readonly told = new Set<string>();

  constructor(
    private readonly work: ParentWork,
    private readonly over: AbortSignal,
  ) {}

  /** Whether a change may take effect, as far as children are concerned. */
  hasTold({ changeId, change }: PendingChange): boolean {
    return change.kind !== 'approvals' || this.told.has(changeId);
  }

  /** Resolves when the children's streams have what waits here. Of a session that leaves the next owner tells it. */
  async tell(): Promise<void> {
    for (const { changeId, change } of this.work.journal.state.changes) {
      if (change.kind !== 'approvals' || this.told.has(changeId) || this.over.aborted) continue;
      try {
        await unlessClosed(() => capChildren(this.work, change.mode), this.over);
      } catch (error) {
        if (this.over.aborted) return;
        throw error;
      }
      this.told.add(changeId);
    }
  }
}

/**
 * Has no session below one do more than a mode lets it, whoever runs them. A child that has no stream gets one that
 * says so. Each is told once; a mode that is less strict tells nobody anything.
 */
async function capChildren(parent: ParentWork, mode: ApprovalMode): Promise<void> {
  const open = parent.journal.state.children.filter(({ ended }) => ended === undefined);
  await Promise.all(open.map((child) => capChild(parent, child, mode)));
}

async function capChild(parent: ParentWork, child: ChildState, mode: ApprovalMode): Promise<void> {
  const isNews = (state: SessionState): boolean => {
    const most = strictestMode(state, child.profile.approvals);
    return !state.isErased && (most === undefined || isStricter(mode, most));
  };
  await parent.children.home(child, parent.key, parent.journal.state).use(async (loaded) => {
    const { work } = loaded;
    await work.journal.refresh();
    const isTold =
      isNews(work.journal.state) &&
      (await loaded.accept((batch) => {
        if (!isNews(batch.state)) return false;
        const change = { kind: 'approvals' as const, mode, cap: true as const };
        batch.add('ChangeRequested', { changeId: `${child.childId}-cap-${mode}`, change }, {}, NODE);
        return true;
      }));
    // What is started below from here on begins with what is there now.
    await capChildren(work, mode);
    if (isTold) await loaded.runIfSupplied();
  });
}

/** The strictest of what a session is bound to from above, and what waits to bind it. */
function strictestMode(
  { approvalCap, changes }: Pick<SessionState, 'approvalCap' | 'changes'>,
  own: ApprovalMode | undefined,
): ApprovalMode | undefined {
  const caps = changes.flatMap(({ change }) => (change.kind === 'approvals' && change.cap ? [change.mode] : []));
  return [approvalCap, ...caps].reduce((most, cap) => (cap === undefined ? most : stricterMode(most, cap)), own);
}

/** A mode for what a session hands on: no less strict than what binds it, and than every change that waits there. */
export function modeUnder(
  { approvalCap, changes }: Pick<SessionState, 'approvalCap' | 'changes'>,
  mode: ApprovalMode,
): ApprovalMode {
  const waiting = changes.flatMap(({ change }) => (change.kind === 'approvals' ? [change.mode] : []));
  return [approvalCap, ...waiting].reduce<ApprovalMode>((most, other) => stricterMode(other, most), mode);
}
