import {
  AGENT_DEFINITIONS,
  APPROVAL,
  ASKER,
  BUDGET_GUARDS,
  COMMANDS,
  GATES,
  HOOKS,
  MCP_SERVERS,
  MODELS,
  PERMISSION,
  SESSION_TOOLS,
  SYSTEM_BLOCKS,
  TOOLS,
  type LanguageModel,
  type Token,
} from '@perdure/plugin-api';
import { checkModel } from '../invoke/language-model.js';
import type { AgentConfig } from './agent-options.js';
import type { PluginGeneration } from './agent-plugins.js';
import { AgentView } from './agent-view.js';
import type { HostServices } from './host-services.js';

/** What an agent is with a generation of its plugins. */
export function compileAgent(
  config: AgentConfig,
  { container }: HostServices,
  { active, contributions, hold }: PluginGeneration,
): AgentView {
  const own = <Port>({ key }: Token<Port>): readonly Port[] =>
    contributions.filter(({ token }) => token.key === key).map(({ value }) => value as Port);
  const many = <Port>(token: Token<Port, 'many'>): readonly Port[] => [
    ...(container.get(token) as readonly Port[]),
    ...own(token),
  ];
  const models = new Map<string, LanguageModel>(config.models);
  for (const source of many(MODELS)) {
    for (const [name, model] of Object.entries(source.models))
      if (!models.has(name)) models.set(name, checkModel(name, model));
  }
  return new AgentView({
    agentId: config.id,
    instruction: config.instruction,
    models,
    defaultModel: config.defaultModel ?? (models.size === 1 ? [...models.keys()][0] : undefined),
    tools: config.tools,
    toolSources: many(TOOLS),
    sessionTools: many(SESSION_TOOLS),
    mcpServers: own(MCP_SERVERS)[0] ?? container.find(MCP_SERVERS),
    systemBlocks: many(SYSTEM_BLOCKS),
    gates: many(GATES),
    hooks: many(HOOKS),
    commandSources: many(COMMANDS),
    definitionSources: many(AGENT_DEFINITIONS),
    permission: container.find(PERMISSION),
    asker: container.find(ASKER),
    approval: container.find(APPROVAL),
    budgetGuard: config.budgetGuard,
    pluginGuards: many(BUDGET_GUARDS),
    streaming: config.streaming,
    readOnly: config.readOnly,
    marksExternal: config.marksExternal,
    lanes: config.lanes,
    context: config.context,
    titles: config.titles,
    files: config.files,
    plugins: active,
    hold,
    limits: config.limits,
  });
}
