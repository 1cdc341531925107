import { describe, expect, test } from 'vitest';
import { taskInput, tasksOf } from './task-input.js';
import { toolsDelegate } from './tools-delegate.js';

const task = { agent: 'general', description: 'do it', prompt: 'do it well' };
const problemsOf = (input: object): readonly string[] =>
  taskInput.safeParse(input).error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('the arguments of a task', () => {
  test('are one task or up to 32', () => {
    expect(tasksOf(taskInput.parse(task))).toEqual([{ ...task, background: false }]);
    const many = Array.from({ length: 32 }, (_, index) => ({ ...task, prompt: `${index}` }));
    expect(tasksOf(taskInput.parse({ tasks: many })).map(({ prompt }) => prompt)).toEqual(
      many.map((each) => each.prompt),
    );
    expect(problemsOf({ tasks: [...many, task] })).toEqual(['tasks']);
    expect(problemsOf({ tasks: [] })).toEqual(['tasks']);
  });

  test('name what is missing, what is too much and what is too long', () => {
    expect(problemsOf({})).toEqual(['agent', 'description', 'prompt']);
    expect(problemsOf({ ...task, prompt: '' })).toEqual(['prompt']);
    expect(problemsOf({ ...task, tasks: [task] })).toEqual(['tasks']);
    expect(problemsOf({ tasks: [{ ...task, prompt: undefined }] })).toEqual(['tasks.0.prompt']);
    expect(problemsOf({ ...task, description: 'x'.repeat(201) })).toEqual(['description']);
    expect(problemsOf({ ...task, more: 1 })).toEqual(['']);
  });

  test('ask for no more successes than there are tasks', () => {
    expect(problemsOf({ ...task, min_success_count: 2 })).toEqual(['min_success_count']);
    expect(problemsOf({ tasks: [task, task], min_success_count: 2 })).toEqual([]);
    expect(problemsOf({ tasks: [task], min_success_count: -1 })).toEqual(['min_success_count']);
    expect(problemsOf({ tasks: [task], min_success_count: 0.5 })).toEqual(['min_success_count']);
  });

  test('leave all in the background, or some', () => {
    const backgrounds = (input: object): unknown => tasksOf(taskInput.parse(input)).map(({ background }) => background);
    expect(backgrounds({ tasks: [task, { ...task, background: true }] })).toEqual([false, true]);
    expect(backgrounds({ tasks: [task, task], background: true })).toEqual([true, true]);
    expect(backgrounds({ ...task, background: true })).toEqual([true]);
  });
});

describe('the agents that work is handed to', () => {
  /** What the plugin provides, by the names of the tokens. */
  async function provided(config: object): Promise<ReadonlyMap<string, unknown>> {
    const found = new Map<string, unknown>();
    const parsed = await toolsDelegate.config['~standard'].validate(config);
    if (parsed.issues !== undefined) throw new Error(parsed.issues.map(({ message }) => message).join());
    await toolsDelegate.setup({
      config: parsed.value,
      provide: (token: { readonly name: string }, value: unknown) => found.set(token.name, value),
    } as never);
    return found;
  }
  const namesOf = async (config: object): Promise<readonly string[]> => {
    const { definitions } = (await provided(config)).get('agent-definitions') as { definitions: { name: string }[] };
    return definitions.map(({ name }) => name);
  };
  const agent = (name: string) => ({ name, description: 'helps' });

  test('are the built-in ones and those of the configuration, which may stand in their place', async () => {
    expect(await namesOf({})).toEqual(['explore', 'plan', 'general']);
    expect(await namesOf({ agents: [agent('review'), agent('plan')] })).toEqual([
      'explore',
      'general',
      'review',
      'plan',
    ]);
    expect(await namesOf({ agents: [agent('review')], builtIn: false })).toEqual(['review']);
  });

  test('have names that are not taken, and are told of well', async () => {
    await expect(provided({ agents: [agent('one'), agent('one')] })).rejects.toMatchObject({
      code: 'PERDURE_CONFIGURATION',
      data: { field: 'agents', reason: 'two agents are called "one"' },
    });
    await expect(provided({ agents: [agent('not a name')] })).rejects.toThrow('it is a letter');
    await expect(provided({ agents: [{ name: 'one' }] })).rejects.toThrow();
    await expect(provided({ agents: [{ ...agent('one'), limits: { maxSteps: 0 } }] })).rejects.toThrow();
    await expect(provided({ maxDepth: 0 })).rejects.toThrow();
    await expect(provided({ maxFanOut: 2_000 })).rejects.toThrow();
    await expect(provided({ other: 1 })).rejects.toThrow();
  });
});
