import type { SessionKey } from '@perdure/events';
import type { ChildGround } from '../children/child-ground.js';
import type { SessionConfig } from './session-options.js';
import type { RegisteredHome } from './registered-home.js';

/** Children of the sessions of an agent are sessions of the same agent, each with a profile of its own. */
export function childHomes(
  place: (config: SessionConfig) => RegisteredHome,
  find: (key: SessionKey) => RegisteredHome | undefined,
): ChildGround {
  return {
    home: ({ childId, model, delegation, profile }, parent, { identity, labels }) => {
      const key: SessionKey = parent.tenant === undefined ? { id: childId } : { tenant: parent.tenant, id: childId };
      const root = identity?.root ?? parent.id;
      const isKnown = delegation !== undefined && profile !== undefined;
      const config: SessionConfig = {
        key,
        labels,
        model,
        workspace: identity?.workspace,
        retention: {},
        env: find(parent)?.additions.variables.own ?? {},
        agent: undefined,
        title: undefined,
        timezone: undefined,
        parent: isKnown ? parent.id : undefined,
        child: isKnown ? { root, delegation, profile } : undefined,
      };
      const home = place(config);
      // It has the variables of its parent, as its own.
      home.additions.variables.offer(config.env);
      return {
        use: (work) => home.recall(work),
        rest: () => home.restNow(),
      };
    },
  };
}
