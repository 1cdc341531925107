import type { PayloadOf } from '@perdure/events';
import type { ChildState } from './child-state.js';

/** How the end of work in the background is told to the model. */
export function childEndText(
  child: ChildState,
  { childId, agent, status, text, failure }: PayloadOf<'ChildEnded'>,
): string {
  const why = failure === undefined ? '' : ` (${failure.code}: ${failure.message})`;
  const said = text === '' ? '' : `\nIts last answer:\n${text}`;
  const task = `The background task ${childId} of the agent "${agent}" has ended: ${status}${why}.`;
  return `${task}\nIt was: ${child.description}${said}`;
}
