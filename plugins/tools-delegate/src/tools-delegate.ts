import { AGENT_DEFINITIONS, definePlugin, PerdureError, TOOLS } from '@perdure/plugin-api';
import type { AgentDefinition } from '@perdure/plugin-api';
import { z } from 'zod';
import { builtInAgents } from './built-in-agents.js';
import { taskTool } from './task-tool.js';
import { tasksTool } from './tasks-tool.js';
import { version } from './version.js';

const definition = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'it is a letter and up to 63 letters, digits, "_" and "-"'),
  description: z.string().min(1),
  instruction: z.union([z.string().min(1), z.array(z.string().min(1))]).exactOptional(),
  readOnly: z.boolean().exactOptional(),
  tools: z.array(z.string().min(1)).exactOptional(),
  model: z.string().min(1).exactOptional(),
  limits: z.strictObject({ maxSteps: z.int().positive().exactOptional() }).exactOptional(),
  permission: z.json().exactOptional(),
  approvals: z.enum(['ask', 'always-allow', 'deny']).exactOptional(),
});

const config = z.strictObject({
  /** Agents beside the built-in ones, or in the place of those of the same name. */
  agents: z.array(definition).default([]),
  /** Whether there are the built-in agents. */
  builtIn: z.boolean().default(true),
  /** How far below the root sessions may be. */
  maxDepth: z.int().min(1).max(16).default(3),
  /** How many sessions of one may be at work together. */
  maxFanOut: z.int().min(1).max(1_024).default(32),
  /** How many sessions there may be below one root. */
  maxTotal: z.int().min(1).max(100_000).default(256),
});

/** Offers the tools `task` and `tasks`, and agents to hand work to. */
export const toolsDelegate = definePlugin({
  name: 'tools-delegate',
  api: 1,
  version,
  config: config.prefault({}),
  provides: [AGENT_DEFINITIONS, TOOLS],
  setup: ({ config: { agents, builtIn, ...limits }, provide }) => {
    const definitions = allOf(agents, builtIn);
    const tools = { task: taskTool(definitions, limits), tasks: tasksTool };
    provide(AGENT_DEFINITIONS, { name: 'tools-delegate', definitions });
    provide(TOOLS, { name: 'tools-delegate', tools: () => tools });
    return {};
  },
});

function allOf(agents: readonly AgentDefinition[], hasBuiltIn: boolean): readonly AgentDefinition[] {
  const names = agents.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const reason = `two agents are called "${twice}"`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'agents', reason });
  }
  return [...(hasBuiltIn ? builtInAgents.filter(({ name }) => !names.includes(name)) : []), ...agents];
}
