import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { COMMANDS, definePlugin, isPerdureError, type Plugin, type SlashCommand } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { waitUntil } from '../fixtures/wait-until.js';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';

const commandsOf = (name: string, ...commands: readonly SlashCommand[]): Plugin =>
  definePlugin({
    name,
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [COMMANDS],
    setup: ({ provide }) => {
      provide(COMMANDS, { name, commands });
      return {};
    },
  });

const summing = () =>
  new ScriptedModel((request) =>
    request.lastUserText.startsWith('Summarise')
      ? { text: 'in short' }
      : { text: `seen ${request.messages.filter(({ role }) => role !== 'system').length}` },
  );

async function start(options: { model?: ScriptedModel; plugins?: readonly Plugin[]; store?: MemoryEventStore } = {}) {
  const { model = summing(), plugins = [], store = new MemoryEventStore() } = options;
  const prices = { scripted: { input: 1_000_000, output: 2_000_000 } };
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], prices });
  const models = { fast: model, other: summing() };
  const agent = runtime.agent({
    id: 'clerk',
    model: 'fast',
    models,
    tools: { lookup: lookupTool() },
    plugins,
    workspace: 'w',
  });
  const session = await agent.sessions.create({ sessionId: 's' }).catch(() => agent.sessions.get('s'));
  const facts = async (type: string) =>
    (await store.read('session-_.s')).facts
      .filter((fact) => fact.type === type)
      .map(({ payload }) => JSON.parse(payload));
  return { runtime, agent, session, model, facts, store };
}

describe('a slash command', () => {
  test('is answered by its handler under its name, by every way in, and no model is asked', async () => {
    const { runtime, session, model, facts } = await start();
    const asked: string[] = [];
    session.registerCommand('echo', 'Says it again.', (input, context) => {
      asked.push(input);
      expect(context).toMatchObject({ sessionId: 's', workspace: 'w', model: 'fast', historyLen: 0, mcpServers: [] });
      expect(context.toolNames).toEqual(['lookup']);
      return `> ${input}`;
    });
    const result = await session.send('/echo a  b\nc ');
    expect(result).toMatchObject({ success: true, status: 'completed', text: '> a  b\nc', runId: null });
    const handle = await session.prompt('/echo two');
    expect((await handle.finished).text).toBe('> two');
    expect(await handle.stop()).toEqual({ stopped: false, turnId: null });
    const stream = session.stream('/echo three');
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['command_ran']);
    expect(events[0]?.payload).toMatchObject({ name: 'echo', input: 'three', output: '> three', success: true });
    expect((await stream.finished).text).toBe('> three');
    expect(asked).toEqual(['a  b\nc', 'two', 'three']);
    expect(model.calls).toEqual([]);
    expect(await facts('CommandRan')).toMatchObject([{ name: 'echo' }, { name: 'echo' }, { name: 'echo' }]);
    expect((await session.messages()).total).toBe(0);
    await session.send('and now');
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain('echo');
    await runtime.dispose();
  });

  test.each(['/usr/bin is full', ' /help', '// a comment', '/', '/1st'])(
    'is not %j: a model answers it',
    async (text) => {
      const { runtime, session, model } = await start();
      expect((await session.send(text)).text).toBe('seen 1');
      expect(model.calls).toHaveLength(1);
      await runtime.dispose();
    },
  );

  test('with an attachment is none, and an unknown one is refused by its name', async () => {
    const { runtime, session, facts } = await start();
    const attachments = [{ type: 'file' as const, mediaType: 'text/plain', data: 'aGk=' }];
    expect((await session.send({ query: '/help', attachments })).text).toBe('seen 1');
    await expect(session.send('/wat now')).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_COMMAND_UNKNOWN') && error.data['command'] === 'wat',
    );
    const stream = session.stream('/wat');
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow(/wat/);
    expect((await stream.finished).error?.code).toBe('PERDURE_COMMAND_UNKNOWN');
    expect(await facts('CommandRan')).toEqual([]);
    await runtime.dispose();
  });

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('the cluster is closed');
      },
      'PERDURE_COMMAND_FAILED',
    ],
    ['answers no text', () => 5, 'PERDURE_COMMAND_FAILED'],
    ['answers nothing in time', () => new Promise(() => undefined), 'PERDURE_COMMAND_TIMEOUT'],
  ])('whose handler %s fails with a code, and a fact says so', async (_, handler, code) => {
    const { runtime, session, facts } = await start();
    session.registerCommand('deploy', 'Deploys.', handler as SlashCommand['handler'], 30);
    expect(await session.send('/deploy')).toMatchObject({ success: false, status: 'failed', error: { code } });
    expect(await facts('CommandRan')).toMatchObject([{ name: 'deploy', output: '', failure: { code } }]);
    expect((await session.send('go on')).success).toBe(true);
    await runtime.dispose();
  });

  test('holds the conversation, and waits for no turn [A12]', async () => {
    const { model, release } = gatedModel([{ text: 'done' }]);
    const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
    const session = await runtime.agent({ id: 'clerk', model }).sessions.create();
    let answer: ((text: string) => void) | undefined;
    session.registerCommand('slow', 'Waits.', () => new Promise((resolve) => (answer = resolve)));
    const slow = session.send('/slow');
    const isBusy = (error: unknown): boolean => isPerdureError(error, 'PERDURE_SESSION_BUSY');
    await expect(session.send('over it')).rejects.toSatisfy(isBusy);
    const attachments = [{ type: 'file' as const, mediaType: 'text/plain', data: 'aGk=' }];
    await expect(session.send({ query: 'over it', attachments })).rejects.toSatisfy(isBusy);
    expect((await session.stream('over it').finished).error?.code).toBe('PERDURE_SESSION_BUSY');
    expect((await session.stream({ query: 'over it', attachments }).finished).error?.code).toBe('PERDURE_SESSION_BUSY');
    await expect(session.prompt('/help')).rejects.toSatisfy(isBusy);
    await expect(session.resumeRun('r')).rejects.toSatisfy(isBusy);
    await waitUntil(() => answer !== undefined);
    answer?.('there');
    expect((await slow).text).toBe('there');
    const turn = await session.prompt('go');
    await expect(session.prompt('/help')).rejects.toSatisfy(isBusy);
    await expect(session.send('/help')).rejects.toSatisfy(isBusy);
    release();
    expect((await turn.finished).text).toBe('done');
    expect((await session.send('/help')).success).toBe(true);
    await runtime.dispose();
  });

  test('with a prompt id is run once, also after a restart', async () => {
    const { runtime, session, store } = await start();
    let runs = 0;
    const count = (): string => `run ${++runs}`;
    session.registerCommand('count', 'Counts.', count);
    expect((await session.send({ query: '/count', promptId: 'p' })).text).toBe('run 1');
    const again = await session.prompt({ query: '/count', promptId: 'p' });
    expect(again.replayed).toBe(true);
    expect((await again.finished).text).toBe('run 1');
    await runtime.dispose();
    const later = await start({ store });
    later.session.registerCommand('count', 'Counts.', count);
    expect((await later.session.send({ query: '/count', promptId: 'p' })).text).toBe('run 1');
    expect((await later.session.send('/count')).text).toBe('run 2');
    await later.runtime.dispose();
  });

  test('keeps an output within bounds', async () => {
    const { runtime, session, facts } = await start();
    session.registerCommand('long', 'Talks.', () => 'word '.repeat(10_000));
    const { text } = await session.send('/long');
    expect(text.length).toBeLessThan(17_000);
    expect(text).toContain('characters left out');
    expect((await facts('CommandRan'))[0]).toMatchObject({ output: text });
    await runtime.dispose();
  });

  test.each<[string, unknown[], string]>([
    ['a name with a space', ['a b', 'x', () => ''], 'name'],
    ['no description', ['a', undefined, () => ''], 'description'],
    ['no handler', ['a', 'x', 'y'], 'handler'],
    ['no time', ['a', 'x', () => '', 0], 'timeoutMs'],
  ])('is refused with %s', async (_, args, field) => {
    const { runtime, session } = await start();
    expect(() => session.registerCommand(...(args as Parameters<typeof session.registerCommand>))).toThrow(
      expect.objectContaining({ code: 'PERDURE_INPUT_INVALID', data: expect.objectContaining({ field }) }),
    );
    await runtime.dispose();
  });
});

describe('the commands of a session', () => {
  test('are ours, those of plugins and its own, by name; its own come first', async () => {
    const command = { name: 'cost', description: 'of a plugin', handler: () => 'plugin' };
    const { runtime, agent, session } = await start({ plugins: [commandsOf('costs', command)] });
    const names = ['clear', 'compact', 'cost', 'help', 'history', 'model', 'tools'];
    expect(session.listCommands().map(({ name }) => name)).toEqual(names);
    expect(session.listCommands()[2]).toEqual({ name: 'cost', description: 'of a plugin', source: 'plugin' });
    expect((await session.send('/cost')).text).toBe('plugin');
    session.registerCommand('cost', 'its own', () => 'session');
    expect((await session.send('/cost')).text).toBe('session');
    expect(session.unregisterCommand('cost')).toBe(true);
    expect(session.unregisterCommand('cost')).toBe(false);
    await agent.removePlugin('costs');
    expect((await session.send('/cost')).text).toContain('tokens');
    await runtime.dispose();
  });

  test('that a plugin brings and that are not valid harm the commands alone, by its name', async () => {
    const command = { name: 'no name', description: '', handler: () => '' };
    const { runtime, session } = await start({ plugins: [commandsOf('bad', command)] });
    expect((await session.send('hello')).success).toBe(true);
    await expect(session.send('/help')).rejects.toThrow(/commands of bad/);
    await runtime.dispose();
  });

  test('help, tools, cost and history tell of the session', async () => {
    const { runtime, session } = await start();
    expect((await session.send('/tools')).text).toBe('lookup');
    expect((await session.send('/history')).text).toBe('There are no messages.');
    await session.send('hello\nthere');
    expect((await session.send('/help')).text).toMatch(/^\/clear +\S.*\n\/compact +\S/);
    expect((await session.send('/history 2')).text).toBe('1  user       hello\n2  assistant  seen 1');
    const { totalTokens } = (await session.info()).usage;
    const cost = (await session.send('/cost')).text;
    expect(cost).toContain(`tokens      ${totalTokens}`);
    // Ten tokens in at one unit a million, five out at two.
    expect(cost).toContain('cost        0.000020');
    await runtime.dispose();
  });

  test('model shows and changes the model, durably', async () => {
    const { runtime, session, facts } = await start();
    expect((await session.send('/model')).text).toBe('The model is "fast". There are also: other.');
    expect((await session.send('/model other')).success).toBe(true);
    expect((await session.info()).model).toBe('other');
    expect(await session.send('/model none')).toMatchObject({
      success: false,
      error: { code: 'PERDURE_MODEL_UNKNOWN' },
    });
    expect(await facts('ChangeRequested')).toMatchObject([
      { change: { kind: 'model', model: 'other' } },
      { change: { kind: 'model', model: 'none' } },
    ]);
    await runtime.dispose();
  });

  test('compact sums the conversation up; clear takes it from models and leaves it in the log', async () => {
    const { runtime, session, store, model } = await start();
    expect((await session.send('/compact')).text).toBe('There is nothing to sum up.');
    for (const text of ['one', 'two', 'three']) await session.send(text);
    expect((await session.send('/compact')).success).toBe(true);
    // The summary, the last turn and the new prompt.
    expect((await session.send('four')).text).toBe('seen 4');
    expect((await session.send('/clear')).text).toContain('4 messages');
    const before = (await session.messages()).total;
    expect(before).toBe(8);
    expect((await session.send('five')).text).toBe('seen 1');
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).not.toContain('in short');
    expect((await session.send('/history 100')).text).toContain('one');
    await runtime.dispose();
    const later = await start({ store });
    expect((await later.session.send('six')).text).toBe('seen 3');
    await later.runtime.dispose();
  });
});
