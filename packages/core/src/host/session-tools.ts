import { reasonOf, type Logger, type SessionScope, type Tools } from '@perdure/plugin-api';
import { AgentView, initialised, type AgentParts } from './agent-view.js';

/** Views that were made of a view and tools; sessions with the same tools share one. */
const made = new WeakMap<AgentView, WeakMap<Tools, AgentView>>();

/** The agent with the tools that a session has at this moment. Throws PERDURE_SESSION_INITIALIZATION. */
export function withSessionTools(agent: AgentView, session: SessionScope): AgentView {
  return agent.parts.sessionTools.reduce((view, source) => {
    const tools = initialised(`tools of ${source.name}`, () => source.tools(session));
    const known = made.get(view) ?? new WeakMap<Tools, AgentView>();
    made.set(view, known);
    const found = known.get(tools);
    if (found !== undefined) return found;
    const { parts } = view;
    const toolSources = [...parts.toolSources, { name: source.name, tools: () => tools }];
    const extended = Object.keys(tools).length === 0 ? view : new AgentView({ ...parts, toolSources });
    known.set(tools, extended);
    return extended;
  }, agent);
}

/** Tells those that bring tools that a session is gone. What fails is reported and hinders nothing. */
export async function releaseSessionTools(
  { sessionTools }: Pick<AgentParts, 'sessionTools'>,
  session: SessionScope,
  logger: Logger,
): Promise<void> {
  for (const source of sessionTools) {
    try {
      await source.release?.(session);
    } catch (error) {
      const data = { source: source.name, session: session.sessionId, reason: reasonOf(error) };
      logger.log('warn', 'The tools of a session could not be let go.', data);
    }
  }
}
