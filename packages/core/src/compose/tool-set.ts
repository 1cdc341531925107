import { effectContract, trustLabel, type EffectContract, type JsonValue, type TrustLabel } from '@perdure/events';
import { PerdureError, reasonOf, type Tool, type Tools } from '@perdure/plugin-api';
import { digestOf } from '../host/sha256.js';
import { canonicalJson } from '../session/canonical-json.js';
import type { ModelTool } from '../invoke/language-model.js';
import { readSchema, type InputSchema } from './input-schema.js';

/** A tool that is ready to be called. */
export interface BoundTool {
  readonly name: string;
  readonly tool: Tool;
  readonly schema: InputSchema;
  readonly effect: EffectContract;
  readonly trust: TrustLabel;
}

/** The tools of an agent in one workspace, frozen. */
export interface ToolSet {
  readonly tools: ReadonlyMap<string, BoundTool>;
  /** As models are told of them. */
  readonly forModel: readonly ModelTool[];
  readonly digest: string;
  readonly names: readonly string[];
  /** About how many characters of a request the tools are. */
  readonly characters: number;
}

/** Names that every provider takes. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Binds tools of several sources. Throws PERDURE_CONFIGURATION naming the tool when a name is taken twice or cannot be
 * used, or when its schema cannot be read.
 */
export function bindTools(sources: readonly Tools[]): ToolSet {
  const tools = new Map<string, BoundTool>();
  for (const source of sources) {
    for (const [name, tool] of Object.entries(source)) {
      if (tools.has(name)) throw invalid(name, 'two tools have this name');
      if (!NAME.test(name)) throw invalid(name, 'a name has 1 to 64 letters, digits, "_" and "-"');
      const { execute, questions } = tool;
      if ((execute === undefined) === (questions === undefined)) {
        throw invalid(name, 'it has to have one of execute and questions');
      }
      if (typeof (execute ?? questions) !== 'function') {
        throw invalid(name, `${execute === undefined ? 'questions' : 'execute'} is not a function`);
      }
      const trust = trustOf(name, tool);
      tools.set(name, { name, tool, schema: schemaOf(name, tool), effect: effectOf(name, tool), trust });
    }
  }
  const forModel = Array.from(tools.values(), ({ name, tool, schema }): ModelTool => ({
    type: 'function',
    name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: schema.json,
  }));
  const effects = Array.from(tools.values(), ({ effect }): JsonValue => effect);
  const text = canonicalJson({ forModel, effects });
  return { tools, forModel, digest: digestOf(text), names: [...tools.keys()], characters: text.length };
}

/** Tools come from code without types too, and what may be repeated must not hang on a misspelt word. */
function effectOf(
  name: string,
  { questions, effect = questions === undefined ? 'once' : 'read', reconcile }: Tool,
): EffectContract {
  const checked = effectContract.safeParse(effect);
  if (!checked.success) throw invalid(name, `its effect is none of ${effectContract.options.join(', ')}`);
  if (checked.data === 'reconcile' && typeof reconcile !== 'function') {
    throw invalid(name, 'its effect is reconcile, and it has no function reconcile');
  }
  return checked.data;
}

/** What a person answered is no stranger's text; of what says nothing of itself, nothing is known. */
function trustOf(
  name: string,
  { questions, trust = questions === undefined ? 'external' : 'trusted' }: Tool,
): TrustLabel {
  const checked = trustLabel.safeParse(trust);
  if (!checked.success) throw invalid(name, `its trust is none of ${trustLabel.options.join(', ')}`);
  return checked.data;
}

function schemaOf(name: string, tool: Tool): InputSchema {
  try {
    return readSchema(tool.inputSchema);
  } catch (error) {
    throw invalid(name, `its input schema cannot be used: ${reasonOf(error)}`);
  }
}

function invalid(tool: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: `tools.${tool}`, reason });
}
