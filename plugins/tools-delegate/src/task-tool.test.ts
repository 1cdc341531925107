import type { ChildLimits, ChildReport, ChildTask, ScopedChildren, ToolContext } from '@perdure/plugin-api';
import { noCalls } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { builtInAgents } from './built-in-agents.js';
import { taskInput } from './task-input.js';
import type { TaskReport } from './task-report.js';
import { taskTool } from './task-tool.js';
import { tasksTool } from './tasks-tool.js';

const limits: ChildLimits = { maxDepth: 2, maxFanOut: 3, maxTotal: 4 };
const tool = taskTool(builtInAgents, limits);
const usage = {
  inputTokens: 1,
  outputTokens: 2,
  totalTokens: 3,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Sessions whose end is in their prompt: how they end, after how many milliseconds, and how long their answer is. */
function sessions() {
  const started: { readonly tasks: readonly ChildTask[]; readonly limits: ChildLimits }[] = [];
  const waited: string[] = [];
  const stopped: (readonly [id: string, reason: string | undefined])[] = [];
  const reportOf = (id: string): ChildReport => {
    const {
      agent = '',
      description = '',
      prompt = '',
      background = false,
    } = started.flatMap(({ tasks }) => tasks)[Number(id.slice(1))] ?? {};
    const [status = '', , length = '4'] = prompt.split(' ');
    const text = 'word'.repeat(Number(length) / 4);
    const about = { id, agent, description, background, text, characters: text.length, usage };
    return status === 'failed'
      ? { ...about, status, failure: { code: 'E', message: 'no' } }
      : { ...about, status: status as 'completed' };
  };
  const children: ScopedChildren = {
    agents: builtInAgents,
    start: async (tasks, given) => {
      started.push({ tasks, limits: given });
      return tasks.map((_, index) => `c${index}`);
    },
    wait: async (id) => {
      waited.push(id);
      const task = started[0]?.tasks[Number(id.slice(1))];
      await new Promise((resolve) => setTimeout(resolve, Number(task?.prompt.split(' ')[1] ?? 0)));
      return reportOf(id);
    },
    look: async (id) => ({ ...reportOf(id), status: 'running' }),
    list: () => ['c0', 'c1'],
    stop: async (id, reason) => {
      stopped.push([id, reason]);
    },
  };
  return { children, started, waited, stopped };
}

function contextOf(children: ScopedChildren | undefined, signal = new AbortController().signal): ToolContext {
  const about = { toolCallId: 'call', abortSignal: signal, idempotencyKey: 'k', sessionId: 's', calls: noCalls };
  return children === undefined ? about : { ...about, children };
}

async function run(input: object, children: ScopedChildren, signal?: AbortSignal): Promise<TaskReport> {
  return (await tool.execute?.(taskInput.parse(input) as never, contextOf(children, signal))) as TaskReport;
}
const task = (prompt: string, more: object = {}) => ({ agent: 'general', description: prompt, prompt, ...more });

describe('work that is handed on', () => {
  test('as one task or as a list is begun together, within limits, and told in the order of the tasks', async () => {
    const one = sessions();
    const report = await run(task('completed'), one.children);
    expect(one.started).toEqual([{ tasks: [{ ...task('completed'), background: false }], limits }]);
    expect(report).toMatchObject({ status: 'complete', succeeded: 1, tasks: [{ id: 'c0', text: 'word', usage }] });

    const many = sessions();
    const slowFirst = [task('completed 20'), task('completed 0'), task('completed 10')];
    const { tasks } = await run({ tasks: slowFirst }, many.children);
    expect(many.started).toHaveLength(1);
    expect(tasks.map(({ id }) => id)).toEqual(['c0', 'c1', 'c2']);
  });

  test('fails as a whole when fewer succeeded than have to, and tells of each', async () => {
    const tasks = [task('completed'), task('failed'), task('cancelled')];
    const failed = await run({ tasks }, sessions().children).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'tasks_failed',
      message: expect.stringContaining('1 of the tasks') as string,
      data: {
        succeeded: 1,
        tasks: [{ status: 'completed' }, { status: 'failed', failure: { code: 'E' } }, { status: 'cancelled' }],
      },
    });
    const two = await run({ tasks, min_success_count: 2 }, sessions().children).catch((error: unknown) => error);
    expect(two).toMatchObject({ code: 'tasks_failed' });
  });

  test.each([0, 1])('is a partial failure where %i that succeed are enough', async (wanted) => {
    const tasks = [task('completed'), task('failed')];
    const report = await run({ tasks, min_success_count: wanted }, sessions().children);
    expect(report).toMatchObject({ status: 'partial_failure', succeeded: 1 });
  });

  test('that was cut off by a stop says so, and one whose tasks had all succeeded does not', async () => {
    const stop = AbortSignal.abort();
    const cut = await run({ tasks: [task('completed'), task('cancelled')] }, sessions().children, stop);
    expect(cut).toMatchObject({ status: 'cancelled', succeeded: 1 });
    expect(await run(task('completed'), sessions().children, stop)).toMatchObject({ status: 'complete' });
  });

  test('in the background is not waited for and counts neither way', async () => {
    const { children, waited } = sessions();
    const report = await run({ tasks: [task('completed'), task('failed', { background: true })] }, children);
    expect(waited).toEqual(['c0']);
    expect(report).toMatchObject({ status: 'complete', succeeded: 1, tasks: [{}, { status: 'running', text: '' }] });
    const all = sessions();
    const none = await run({ tasks: [task('failed'), task('failed')], background: true }, all.children);
    expect(all.waited).toEqual([]);
    expect(all.started[0]?.tasks.map(({ background }) => background)).toEqual([true, true]);
    expect(none).toMatchObject({ status: 'complete', succeeded: 0 });
  });

  test('is told at a bounded length, however many tasks there are, and however long their answers', async () => {
    const long = (status: string) => Array.from({ length: 32 }, () => task(`${status} 0 4000`));
    const report = await run({ tasks: long('completed') }, sessions().children);
    expect(JSON.stringify(report).length).toBeLessThanOrEqual(48_000);
    expect(report.tasks).toHaveLength(32);
    for (const { text, characters } of report.tasks) {
      expect(text).toMatch(/^word.* \[…\] .*word$/);
      expect(characters).toBe(4_000);
    }
    const failed = await run({ tasks: long('failed') }, sessions().children).catch((error: unknown) => error);
    expect(JSON.stringify((failed as { data: unknown }).data).length).toBeLessThanOrEqual(12_000);
    expect(failed).toMatchObject({ data: { tasks: { length: 32 } } });
  });

  test('is refused where nothing can be handed on, and where it is refused below', async () => {
    const input = taskInput.parse(task('completed')) as never;
    await expect(tool.execute?.(input, contextOf(undefined))).rejects.toMatchObject({ code: 'PERDURE_CHILD_LIMIT' });
    const { children } = sessions();
    const refusing = { ...children, start: () => Promise.reject(new Error('no room')) };
    await expect(run(task('completed'), refusing)).rejects.toThrow('no room');
  });

  test('is told of to models with the agents that there are, and asked about by their names', () => {
    for (const { name, description } of builtInAgents) expect(tool.description).toContain(`${name}: ${description}`);
    const input = taskInput.parse({ tasks: [task('a'), task('b', { agent: 'explore' }), task('c')] });
    expect(tool.permissionSubjects?.(input as never)).toEqual(['general', 'explore']);
  });
});

describe('tasks that nobody waits for', () => {
  test('are listed, looked at, waited for and stopped', async () => {
    const { children, started, stopped } = sessions();
    started.push({ tasks: [{ ...task('completed'), background: true }], limits });
    const act = (input: object) => tasksTool.execute?.(input as never, contextOf(children));
    expect(await act({ action: 'list' })).toMatchObject({ tasks: [{ id: 'c0' }, { id: 'c1' }] });
    expect(await act({ action: 'look', id: 'c0' })).toMatchObject({ id: 'c0', status: 'running' });
    expect(await act({ action: 'wait', id: 'c0' })).toMatchObject({ id: 'c0', status: 'completed' });
    expect(await act({ action: 'stop', id: 'c0' })).toMatchObject({ id: 'c0' });
    expect(stopped).toEqual([['c0', 'stopped by the agent that handed it on']]);
  });
});
