import {
  errorTable,
  PerdureError,
  type ChildReport,
  type ErrorCode,
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
    throw refusalOf(outcome);
  }
  return { success: outcome.status === 'completed', tasks: told.tasks as unknown as ChildReport[] };
}

/** Why nothing was handed on, with the code that a model's call would have. */
function refusalOf({ failure, status }: ToolOutcome): PerdureError {
  const known = Object.keys(errorTable).find((code) => code === failure?.code) as ErrorCode | undefined;
  const error = new PerdureError(known ?? 'PERDURE_TOOL_FAILED', { tool: TOOL, reason: failure?.message ?? status });
  // It tells the names that the message of the code is made of.
  if (known !== undefined && failure !== undefined) error.message = failure.message;
  return error;
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
