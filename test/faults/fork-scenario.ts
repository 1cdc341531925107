import { isPerdureError, type Agent, type Session } from '@perdure/plugin-api';
import type { Scenario } from './scenario.js';

/** A fork that goes on beside the session, is forked again, and is erased with that. */
export const forking: Scenario = {
  name: 'forks and their end',
  script: { rules: [{ answer: { text: 'well' } }] },
  others: ['f', 'g'],
  async drive(session, agent) {
    const turn = await session.prompt({ query: 'go', promptId: 'p-1' });
    await session.resume();
    await turn.finished;
    try {
      const fork = await forked(agent, 's', 'f');
      await (
        await fork.set({ model: 'second' })
      ).finished;
      await forked(agent, 'f', 'g');
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_ERASED')) throw error;
    }
    await agent.sessions.erase('f', { cascade: true });
  },
};

async function forked(agent: Agent, from: string, sessionId: string): Promise<Session> {
  try {
    return await agent.sessions.fork(from, { sessionId });
  } catch (error) {
    if (!isPerdureError(error, 'PERDURE_SESSION_EXISTS')) throw error;
    return agent.sessions.get(sessionId);
  }
}
