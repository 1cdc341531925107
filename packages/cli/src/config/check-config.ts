import { PerdureError, type LanguageModel, type PluginLike, type Tool } from '@perdure/plugin-api';
import { parseRule } from '@perdure/runtime';
import { z } from 'zod';
import type { PerdureConfig } from './perdure-config.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const name = z.string().min(1);
const count = z.int().positive().optional();
const instance = z.custom<LanguageModel>(
  (value) => isObject(value) && typeof value['specificationVersion'] === 'string',
  'it is no model of the AI SDK',
);
const nameOrModel = z.custom<LanguageModel | string>(
  (value) => (typeof value === 'string' ? value !== '' : instance.safeParse(value).success),
  'it is neither the name of a model nor a model of the AI SDK',
);
const tool = z.custom<Tool>(
  (value) => isObject(value) && typeof value['execute'] === 'function' && 'inputSchema' in value,
  'it is no tool: { description, inputSchema, execute }',
);
const namedPlugin = z.union(
  [name, z.strictObject({ plugin: name, config: z.unknown().optional(), only: z.array(name).optional() })],
  'it is no name of a package',
);
const plugin = z.custom<PluginLike>((value) => {
  if (namedPlugin.safeParse(value).success) return true;
  const object = isObject(value) && isObject(value['plugin']) ? value['plugin'] : value;
  return isObject(object) && typeof object['setup'] === 'function' && typeof object['name'] === 'string';
}, 'it is neither a plugin nor the name of a package');
const rules = z.array(z.string()).optional();

const limits = z.strictObject({
  maxSteps: count,
  maxModelAttempts: count,
  modelSilenceMs: count,
  maxOutputCharacters: z.int().min(256).optional(),
  maxOutputTokens: count,
  maxTurnMs: count,
  maxRepeatedCalls: count,
  maxParseFailures: count,
  maxNestedCalls: count,
});
const context = z.strictObject({
  window: z.union([z.int().positive(), z.record(name, z.int().positive())], 'it is no number of tokens').optional(),
  compactAt: z.number().positive().max(1).optional(),
});
const agentData = {
  id: name.optional(),
  instruction: z.union([z.string(), z.array(z.string())], 'it is neither a text nor a list of texts').optional(),
  limits: limits.optional(),
  context: context.optional(),
  streaming: z.boolean().optional(),
  // Their members are the agent's, which checks them when it is made.
  files: z.record(name, z.unknown()).optional(),
  titles: z.union([z.boolean(), name, z.record(name, z.unknown())], 'it says who gives titles').optional(),
};
const data = {
  permissions: z
    .strictObject({ allow: rules, deny: rules, ask: rules, default: z.enum(['ask', 'deny', 'allow']).optional() })
    .optional(),
  // Its members are the plugin's, which checks them when it is set up.
  shell: z.record(name, z.unknown()).optional(),
  redaction: z.union([z.literal('off'), z.record(name, z.unknown())], 'it is "off" or an object').optional(),
  // The servers are checked where they are used, so that one that is wrong can be taken out again.
  mcp: z.strictObject({ servers: z.record(name, z.unknown()).optional() }).optional(),
  approvals: z
    .strictObject({
      mode: z.enum(['ask', 'wait', 'deny']).optional(),
      expiresInMs: count,
      onExpiry: z.enum(['allow', 'deny']).optional(),
    })
    .optional(),
  store: z.strictObject({ path: name.optional() }).optional(),
  baseUrl: name.optional(),
  modelId: name.optional(),
  apiKeyEnv: name.optional(),
};

const codeConfig = z.strictObject({
  ...data,
  agent: z
    .strictObject({
      ...agentData,
      model: nameOrModel.optional(),
      models: z.record(name, instance).optional(),
      tools: z.record(name, tool).optional(),
    })
    .optional(),
  plugins: z.array(plugin).optional(),
  secrets: z.record(name, z.string().min(1)).optional(),
});

const jsonConfig = z.strictObject({
  ...data,
  agent: z.strictObject({ ...agentData, model: name.optional() }).optional(),
  plugins: z.array(namedPlugin).optional(),
});

/** Members that only a configuration of code can have, to say so instead of "unrecognized". */
const CODE_ALONE = new Set(['secrets', 'tools', 'models']);

/** Checks what a configuration file says. Throws PERDURE_CONFIGURATION naming the field and the file. */
export function checkConfig(value: unknown, file: string): PerdureConfig {
  const isJson = file.endsWith('.json');
  const refuse = (field: string, reason: string): PerdureError =>
    new PerdureError('PERDURE_CONFIGURATION', { field, reason: `${reason}, in ${file}`, file });
  const parsed = (isJson ? jsonConfig : codeConfig).safeParse(value);
  if (!parsed.success) {
    const { field, unknown, message } = firstIssue(parsed.error);
    if (unknown === undefined) throw refuse(field || 'default', message);
    const isForCode = isJson && CODE_ALONE.has(unknown);
    throw refuse(field, isForCode ? 'only perdure.config.ts and .mjs can have it' : 'there is no such member');
  }
  const config = parsed.data as PerdureConfig;
  for (const list of ['allow', 'deny', 'ask'] as const) {
    for (const [index, rule] of (config.permissions?.[list] ?? []).entries()) {
      checkRule(rule, (reason) => refuse(`permissions.${list}.${index}`, reason));
    }
  }
  if (config.agent?.model !== undefined && (config.baseUrl ?? config.modelId) !== undefined) {
    throw refuse(config.baseUrl === undefined ? 'modelId' : 'baseUrl', 'the agent has a model of its own');
  }
  return config;
}

/** Throws what `refuse` makes of the reason when a text is no rule. */
export function checkRule(text: string, refuse: (reason: string) => PerdureError): void {
  try {
    parseRule(text);
  } catch (error) {
    throw refuse(error instanceof PerdureError ? String(error.data['reason']) : String(error));
  }
}

function firstIssue(error: z.ZodError): {
  readonly field: string;
  readonly unknown?: string;
  readonly message: string;
} {
  const issue = error.issues[0];
  const path = (issue?.path ?? []).map(String);
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = [...path, ...(unknown === undefined ? [] : [unknown])].join('.');
  return { field, ...(unknown === undefined ? {} : { unknown }), message: issue?.message ?? 'it is not valid' };
}
