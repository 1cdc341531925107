import type { ToolContext, Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { childrenOf } from './task-tool.js';

const tasksInput = z
  .strictObject({
    action: z.enum(['list', 'look', 'wait', 'stop']).describe('What to do with tasks in the background.'),
    id: z.string().min(1).optional().describe('The id of a task; all of them with "list".'),
  })
  .superRefine(({ action, id }, context) => {
    if (action !== 'list' && id === undefined) {
      context.addIssue({ code: 'custom', path: ['id'], message: 'it is missing' });
    }
  });

type TasksInput = z.output<typeof tasksInput>;

/** Looks after tasks that nobody waits for. */
export const tasksTool: Tool = {
  description: 'Lists the tasks that are at work in the background, looks at one, waits for its end, or stops it.',
  inputSchema: tasksInput,
  effect: 'idempotent',
  permissionSubjects: ({ action }: TasksInput) => [action],
  execute: async ({ action, id = '' }: TasksInput, context: ToolContext) => {
    const children = childrenOf(context);
    switch (action) {
      case 'list':
        return { tasks: await Promise.all(children.list().map((each) => children.look(each))) };
      case 'look':
        return children.look(id);
      case 'wait':
        return children.wait(id);
      case 'stop':
        await children.stop(id, 'stopped by the agent that handed it on');
        return children.look(id);
    }
  },
};
