import {
  PerdureError,
  type ChildReport,
  type ParallelOptions,
  type ParallelOutcome,
  type ParallelTask,
  type ToolOutcome,
} from '@perdure/plugin-api';
import type { JsonValue } from '@perdure/events';
import { safeCut } from '../invoke/output-excerpt.js';
import { checkOptions, checkText, invalidInput, isObject } from '../session/session-input.js';

/** The tool that hands work on, whichever plugin offers it. */
const TOOL = 'task';
const DESCRIPTION = 80;

/** Hands work on as a call of the host, and tells how each task ended. */
export async function parallel(
  session: { tool(name: string, input: JsonValue): Promise<ToolOutcome> },
  tasks: readonly ParallelTask[],
  options: ParallelOptions | undefined,
): Promise<ParallelOutcome> {
  const { minSuccessCount } = checkOptions(options);
  const outcome = await session.tool(TOOL, {
    tasks: checkTasks(tasks),
    ...(minSuccessCount === undefined ? {} : { min_success_count: minSuccessCount }),
  });
  const told = outcome.output ?? outcome.failure?.data;
  if (!isObject(told) || !('tasks' in told) || !Array.isArray(told.tasks)) {
    const reason = outcome.failure?.message ?? outcome.status;
    throw new PerdureError('PERDURE_TOOL_FAILED', { tool: TOOL, reason });
  }
  return { success: outcome.status === 'completed', tasks: told.tasks as unknown as ChildReport[] };
}

function checkTasks(tasks: readonly ParallelTask[]): JsonValue[] {
  if (!Array.isArray(tasks) || tasks.length === 0) throw invalidInput('tasks', 'it is a list that is not empty');
  return tasks.map((task: ParallelTask, index) => {
    if (!isObject(task)) throw invalidInput(`tasks.${index}`, 'it is an object');
    const prompt = checkText(`tasks.${index}.prompt`, task.prompt);
    const description = task.description ?? prompt.slice(0, safeCut(prompt, DESCRIPTION));
    return { agent: checkText(`tasks.${index}.agent`, task.agent), prompt, description };
  });
}
