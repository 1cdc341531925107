import type { Tool, ToolContext, Tools } from '@perdure/plugin-api';
import type { KillPlan } from './kill-plan.js';

/**
 * The tools, each with the points `tool:before`, `tool:after` (the effect is there, the outcome is not known),
 * `reconcile:before` and `reconcile:after`. They carry the tool's name.
 */
export function killingTools(tools: Tools, plan: KillPlan): Tools {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, killingTool(name, tool, plan)]));
}

function killingTool(name: string, tool: Tool, plan: KillPlan): Tool {
  const labels = [name];
  const { description, effect, timeoutMs } = tool;
  return {
    ...tool,
    inputSchema: tool.inputSchema,
    ...(tool.execute === undefined ? {} : { execute: killingExecute(tool.execute.bind(tool), labels, plan) }),
    // A tool may be an instance of a class: what its prototype has is not part of a copy.
    ...(description === undefined ? {} : { description }),
    ...(effect === undefined ? {} : { effect }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(tool.permissionSubjects === undefined
      ? {}
      : { permissionSubjects: (input: never) => tool.permissionSubjects?.(input) ?? [] }),
    ...(tool.questions === undefined ? {} : { questions: tool.questions.bind(tool) }),
    ...(tool.reconcile === undefined ? {} : { reconcile: killingReconcile(name, tool.reconcile.bind(tool), plan) }),
  };
}

function killingExecute(
  execute: NonNullable<Tool['execute']>,
  labels: readonly string[],
  plan: KillPlan,
): NonNullable<Tool['execute']> {
  return (input: never, context: ToolContext) => {
    plan.pass({ point: 'tool:before', labels });
    return afterEffect(execute(input, context), () => plan.pass({ point: 'tool:after', labels }));
  };
}

function killingReconcile(
  name: string,
  reconcile: NonNullable<Tool['reconcile']>,
  plan: KillPlan,
): NonNullable<Tool['reconcile']> {
  return async (input, context) => {
    plan.pass({ point: 'reconcile:before', labels: [name] });
    const reconciliation = await reconcile(input, context);
    plan.pass({ point: 'reconcile:after', labels: [name] });
    return reconciliation;
  };
}

/** Tools answer at once, with a promise, or piece by piece; the effect is whole at the end of each. */
function afterEffect(output: unknown, passed: () => void): unknown {
  if (isPromiseLike(output)) return output.then((value) => afterEffect(value, passed));
  if (isAsyncIterable(output)) return piecesThen(output, passed);
  passed();
  return output;
}

async function* piecesThen(pieces: AsyncIterable<unknown>, passed: () => void): AsyncGenerator {
  yield* pieces;
  passed();
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
