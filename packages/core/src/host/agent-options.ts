import {
  PerdureError,
  type AgentOptions,
  type BudgetGuard,
  type LanguageModel,
  type PluginLike,
  type SessionRetentionLimits,
  type Tools,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { fileOptions, type ResolvedFileOptions } from '../files/file-options.js';
import { CallLanes } from '../invoke/call-lanes.js';
import { checkModel } from '../invoke/language-model.js';
import { isObject, variablesProblem } from '../session/session-input.js';
import type { AgentContext, AgentParts, TitleSource } from './agent-view.js';
import { resolveRetention } from './retention.js';

const positive = z.int().positive();
const limits = z.strictObject({
  maxSteps: positive.default(200),
  maxModelAttempts: positive.default(4),
  modelSilenceMs: positive.default(120_000),
  maxOutputCharacters: z.int().min(256).default(65_536),
  maxOutputTokens: positive.exactOptional(),
  maxTurnMs: positive.exactOptional(),
  maxRepeatedCalls: positive.default(5),
  maxParseFailures: z.int().nonnegative().default(3),
  maxNestedCalls: positive.default(256),
});

const context = z.strictObject({
  window: z.union([positive, z.record(z.string().min(1), positive)]).exactOptional(),
  compactAt: z.number().positive().max(1).default(0.8),
});

const lanes = z.record(
  z.string().min(1),
  z.strictObject({ concurrency: positive, timeoutMs: positive.max(2 ** 31 - 1).exactOptional() }),
);

/** An agent's options, whole and checked. Models of plugins come in later. */
export interface AgentConfig {
  readonly id: string;
  readonly tenant: string | undefined;
  readonly workspace: string | undefined;
  readonly instruction: readonly string[];
  readonly models: ReadonlyMap<string, LanguageModel>;
  readonly defaultModel: string | undefined;
  readonly streaming: boolean;
  readonly readOnly: boolean;
  readonly marksExternal: boolean;
  readonly lanes: CallLanes;
  readonly context: AgentContext;
  readonly limits: AgentParts['limits'];
  readonly files: ResolvedFileOptions;
  readonly retention: SessionRetentionLimits;
  readonly titles: TitleSource | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly tools: Tools;
  /** The host's own. */
  readonly budgetGuard: BudgetGuard | undefined;
  /** Those that the agent begins with. */
  readonly plugins: readonly PluginLike[];
}

/** Every option that there is. */
const AGENT_OPTIONS: Readonly<Record<keyof AgentOptions, true>> = {
  id: true,
  model: true,
  models: true,
  instruction: true,
  workspace: true,
  tools: true,
  plugins: true,
  tenant: true,
  streaming: true,
  readOnly: true,
  externalContent: true,
  limits: true,
  files: true,
  context: true,
  lanes: true,
  budgetGuard: true,
  retentionLimits: true,
  titles: true,
  env: true,
};

/** The name of the model that was handed in without one. */
export const UNNAMED_MODEL = 'default';

/** Checks an agent's options, once; what is done to them later has no effect. Throws PERDURE_CONFIGURATION. */
export function resolveAgentOptions(options: AgentOptions): AgentConfig {
  if (!isObject(options))
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'agent', reason: 'it is an object' });
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(AGENT_OPTIONS, name));
  if (unknown !== undefined) throw configuration(unknown, 'there is no such option');
  if (typeof options.id !== 'string' || options.id.trim() === '') throw configuration('id', 'it is empty');
  const checked = limits.safeParse(options.limits ?? {});
  if (!checked.success) throw invalid('limits', checked.error);
  const files = fileOptions.safeParse(options.files ?? {});
  if (!files.success) throw invalid('files', files.error);
  const checkedContext = context.safeParse(options.context ?? {});
  if (!checkedContext.success) throw invalid('context', checkedContext.error);
  const checkedLanes = lanes.safeParse(options.lanes ?? {});
  if (!checkedLanes.success) throw invalid('lanes', checkedLanes.error);
  const models = new Map<string, LanguageModel>();
  for (const [name, model] of Object.entries(options.models ?? {})) models.set(name, checkModel(name, model));
  const { model } = options;
  if (model !== undefined && typeof model !== 'string') models.set(UNNAMED_MODEL, checkModel(UNNAMED_MODEL, model));
  if (!Array.isArray(options.plugins ?? [])) throw configuration('plugins', 'it is a list');
  const { readOnly: given = false }: { readonly readOnly?: unknown } = options;
  if (typeof given !== 'boolean') throw configuration('readOnly', 'it is true or false');
  const { externalContent = 'plain' }: { readonly externalContent?: unknown } = options;
  if (externalContent !== 'marked' && externalContent !== 'plain') {
    throw configuration('externalContent', 'it is marked or plain');
  }
  if (options.tenant === '') throw configuration('tenant', 'it is empty');
  const { instruction = [] } = options;
  const { maxOutputTokens, maxTurnMs, ...rest } = checked.data;
  return {
    id: options.id,
    tenant: options.tenant,
    workspace: options.workspace,
    instruction: instructionOf(instruction),
    models,
    defaultModel: typeof model === 'string' ? model : model === undefined ? undefined : UNNAMED_MODEL,
    streaming: options.streaming ?? true,
    readOnly: options.readOnly ?? false,
    marksExternal: externalContent === 'marked',
    lanes: new CallLanes(checkedLanes.data),
    context: contextOf(checkedContext.data),
    limits: { ...rest, maxOutputTokens, maxTurnMs },
    files: files.data,
    retention: resolveRetention(options.retentionLimits, configuration),
    titles: resolveTitles(options.titles ?? false),
    env: resolveEnv(options.env, configuration),
    tools: { ...options.tools },
    budgetGuard: options.budgetGuard,
    plugins: [...(options.plugins ?? [])],
  };
}

function contextOf({ window, compactAt }: z.output<typeof context>): AgentContext {
  const windows = typeof window === 'object' ? new Map(Object.entries(window)) : undefined;
  return { compactAt, windowOf: (model) => (typeof window === 'number' ? window : windows?.get(model)) };
}

const titleOptions = z.strictObject({ model: z.string().min(1).exactOptional(), children: z.boolean().default(false) });

function resolveTitles(titles: NonNullable<AgentOptions['titles']>): TitleSource | undefined {
  if (titles === false) return undefined;
  const given = typeof titles === 'string' ? { model: titles } : titles === true ? {} : titles;
  const checked = titleOptions.safeParse(given);
  if (!checked.success) throw invalid('titles', checked.error);
  return { model: checked.data.model, children: checked.data.children };
}

/** Texts without what stands around them; empty ones are left out. */
export function instructionOf(instruction: string | readonly string[]): readonly string[] {
  const texts = typeof instruction === 'string' ? [instruction] : instruction;
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

/** Variables, checked. Throws what `refuse` makes of a bad one. */
export function resolveEnv(
  env: Readonly<Record<string, string>> | undefined,
  refuse: (field: string, reason: string) => PerdureError,
): Readonly<Record<string, string>> {
  const problem = variablesProblem(env ?? {}, false);
  if (problem !== undefined) throw refuse(problem.field === '' ? 'env' : `env.${problem.field}`, problem.reason);
  return { ...env };
}

function invalid(field: string, { issues: [issue] }: z.ZodError): PerdureError {
  return configuration([field, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
}

function configuration(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: `agent.${field}`, reason });
}
