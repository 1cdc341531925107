import { noUsage } from '@perdure/events';
import { PerdureError, type ChildReport } from '@perdure/plugin-api';
import type { ChildEnd, ChildState } from '../session/child-state.js';
import { isWaiting } from '../session/waiting.js';
import type { SessionWork } from '../turn/session-work.js';
import { erasedFailure, shortened } from './child-end.js';
import { workIdsOf } from './child-ids.js';

type Child = Pick<ChildState, 'childId' | 'description' | 'background' | 'profile'>;

export function reportOfEnd(child: Child, { status, text, characters, failure, usage }: ChildEnd): ChildReport {
  return { ...aboutOf(child), status, text, characters, ...(failure === undefined ? {} : { failure }), usage };
}

/** How a child stands by its own stream. Throws PERDURE_CHILD_UNKNOWN when it is no child of this session. */
export function lookAtChild(
  childId: string,
  { key, journal, children }: Pick<SessionWork, 'key' | 'journal' | 'children'>,
): Promise<ChildReport> {
  const known = journal.state.children.find((child) => child.childId === childId);
  return children.home(known ?? { childId }, key, journal.state).use(async ({ work, index }) => {
    await work.journal.refresh();
    const { state } = work.journal;
    const { identity } = state;
    const isOwn = identity?.parent === key.id && identity.delegation !== undefined;
    if (!isOwn && known === undefined) throw new PerdureError('PERDURE_CHILD_UNKNOWN', { child: childId });
    const { turnId } = workIdsOf(childId);
    const result = index.resultOf(turnId);
    const profile = known?.profile ?? identity?.profile;
    const about = {
      id: childId,
      agent: profile?.agent ?? '',
      description: known?.description ?? '',
      background: known?.background ?? false,
    };
    const text = shortened(result?.text ?? index.answerText(turnId) ?? '');
    const usage = index.usageOf(turnId) ?? noUsage;
    if (state.isErased) return { ...about, status: 'failed', ...text, failure: erasedFailure(childId), usage };
    if (result === undefined || result.status === 'suspended') {
      return { ...about, status: isWaiting(state) ? 'waiting' : 'running', ...text, usage };
    }
    const { status, error } = result;
    // As the fact of its end tells it: one that was stopped did not fail.
    const failure = status === 'failed' && error !== undefined ? { failure: error } : {};
    return { ...about, status, ...text, ...failure, usage };
  });
}

function aboutOf({
  childId,
  description,
  background = false as const,
  profile: { agent },
}: {
  readonly childId: string;
  readonly description: string;
  readonly background?: boolean;
  readonly profile: { readonly agent: string };
}) {
  return { id: childId, agent, description, background };
}
