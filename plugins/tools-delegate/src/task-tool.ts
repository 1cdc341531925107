import type { AgentDefinition, ChildLimits, ChildReport, ScopedChildren, Tool } from '@perdure/plugin-api';
import { PerdureError, type ToolContext, type ToolFailure } from '@perdure/plugin-api';
import type { JsonValue } from '@perdure/events';
import { taskInput, tasksOf, type TaskInput } from './task-input.js';
import { bounded, summarise } from './task-report.js';

/** Characters of JSON that a result may have, and what is told of a failure. */
const LONGEST_RESULT = 48_000;
const LONGEST_FAILURE = 12_000;

/**
 * Hands tasks to sessions of their own. It is known by its call which sessions these are, so a call that was cut by a
 * crash is run again: it finds them, and repeats none that has ended.
 */
export function taskTool(agents: readonly AgentDefinition[], limits: ChildLimits): Tool {
  const known = agents.map(({ name, description }) => `- ${name}: ${description}`);
  return {
    description: [
      'Hands one task, or up to 32 at the same time, to other agents. Each works in a conversation of its own and may',
      'do no more than you may; its last answer comes back. The agents:',
      ...known,
    ].join('\n'),
    inputSchema: taskInput,
    effect: 'idempotent',
    permissionSubjects: (input: TaskInput) => [...new Set(tasksOf(input).map(({ agent }) => agent))],
    execute: async (input: TaskInput, context: ToolContext) => {
      const children = childrenOf(context);
      const tasks = tasksOf(input);
      const ids = await children.start(tasks, limits);
      const reports = await Promise.all(
        ids.map(async (id, index): Promise<ChildReport> => {
          const task = tasks[index];
          return task?.background === true ? startedReport(id, task) : children.wait(id);
        }),
      );
      const isCancelled = context.abortSignal.aborted;
      const report = summarise(reports, input.min_success_count, isCancelled);
      if (report.status !== 'failed') return bounded(report, LONGEST_RESULT);
      const { tasks: told, succeeded } = bounded(report, LONGEST_FAILURE);
      const failure: ToolFailure = {
        code: 'tasks_failed',
        message: `${succeeded} of the tasks succeeded; that is not enough.`,
        data: { succeeded, tasks: told as unknown as JsonValue },
      };
      throw failure;
    },
  };
}

/** The way to hand work on. Throws PERDURE_CHILD_LIMIT where there is none. */
export function childrenOf({ children }: ToolContext): ScopedChildren {
  if (children !== undefined) return children;
  throw new PerdureError('PERDURE_CHILD_LIMIT', { reason: 'nothing can be handed on from here' });
}

const noUsage = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Of a task that is not waited for nothing else is told: another run of the call says the same. */
function startedReport(id: string, { agent, description }: { agent: string; description: string }): ChildReport {
  return { id, agent, description, background: true, status: 'running', text: '', characters: 0, usage: noUsage };
}
