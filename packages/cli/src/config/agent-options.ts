import type { AgentOptions } from '@perdure/plugin-api';
import { endpointOf, keyOf, modelOf, type ModelFlags } from './model-endpoint.js';
import type { Settings } from './settings.js';

/** The agent's id when the configuration has none. */
export const DEFAULT_AGENT = 'perdure';

/**
 * The configured agent. A model of the command line takes the place of the agent's. `isAsked` says whether models will
 * be called: only then is a key needed. Throws PERDURE_CONFIGURATION.
 */
export function agentOptions(
  { config, workspace }: Settings,
  flags: ModelFlags,
  environment: Readonly<Record<string, string | undefined>>,
  isAsked: boolean,
): AgentOptions {
  const { model: own, limits, context, ...others } = config.agent ?? {};
  const endpoint = endpointOf(flags, config);
  const model = endpoint === undefined ? own : modelOf(endpoint, isAsked ? keyOf(endpoint, environment) : undefined);
  return {
    id: DEFAULT_AGENT,
    ...present(others),
    workspace,
    ...(limits === undefined ? {} : { limits: present(limits) }),
    ...(context === undefined ? {} : { context: present(context) }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Members that a configuration file sets to `undefined` are as good as absent. */
function present<Members extends object>(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
