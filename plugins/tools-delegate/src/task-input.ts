import type { ChildTask } from '@perdure/plugin-api';
import { z } from 'zod';

const MOST_TASKS = 32;

const task = {
  agent: z.string().min(1).describe('The agent that does it.'),
  description: z.string().min(1).max(200).describe('The task in a few words.'),
  prompt: z.string().min(1).describe('All that the agent needs to know: it sees nothing of this conversation.'),
};
const background = z
  .boolean()
  .default(false)
  .describe('Do not wait for it. Its end is told to you in a later message; the tool "tasks" looks after it.');

/** One task, or a list of them. */
export const taskInput = z
  .strictObject({
    agent: task.agent.optional(),
    description: task.description.optional(),
    prompt: task.prompt.optional(),
    background,
    tasks: z
      .array(z.strictObject({ ...task, background }))
      .min(1)
      .max(MOST_TASKS)
      .optional()
      .describe(`1 to ${MOST_TASKS} tasks at the same time, in the place of agent, description and prompt.`),
    min_success_count: z
      .int()
      .min(0)
      .max(MOST_TASKS)
      .optional()
      .describe('How many of the tasks that are waited for have to succeed; all of them when absent.'),
  })
  .superRefine((input, context) => {
    const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (input.tasks === undefined) {
      for (const name of ['agent', 'description', 'prompt'] as const) {
        if (input[name] === undefined) refuse(name, 'it is missing');
      }
    } else if (input.agent !== undefined || input.prompt !== undefined || input.description !== undefined) {
      refuse('tasks', 'it stands in the place of agent, description and prompt');
    }
    const count = input.tasks?.length ?? 1;
    if ((input.min_success_count ?? 0) > count) refuse('min_success_count', `there are only ${count} tasks`);
  });

export type TaskInput = z.output<typeof taskInput>;

/** The tasks that are asked for, in order. */
export function tasksOf({ tasks, agent = '', description = '', prompt = '', background: all }: TaskInput): ChildTask[] {
  if (tasks === undefined) return [{ agent, description, prompt, background: all }];
  return tasks.map((each) => ({ ...each, background: each.background || all }));
}
