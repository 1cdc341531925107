import { afterEach, describe, expect, test } from 'vitest';
import { definePlugin, MCP_SERVER_SOURCES, type Session } from '@perdure/plugin-api';
import { z } from 'zod';
import { allowing } from '../fixtures/agents.js';
import { isAlive, mcpNode, outputOf, ServerPlace, toolsTold } from '../fixtures/mcp.js';
import { waitUntil } from '../fixtures/wait-until.js';

let places: ServerPlace[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

/** A server that has one tool, `count`, and says its name. */
function named(name: string, tools: readonly string[] = ['count']) {
  const place = new ServerPlace();
  places.push(place);
  return { place, setting: place.stdio({ name, tools }) };
}

const stateOf = async (session: Session): Promise<readonly string[]> =>
  (await session.mcp.list()).map((each) => `${each.owner} ${each.name}${each.isShadowed ? ' (hidden)' : ''}`);
const ask = (session: Session): Promise<unknown> => outputOf(session, 'mcp__s__count');

describe('the servers of sessions', () => {
  test('are those of all, then inherited, then their own: nearer hide, removal shows again [A20]', async () => {
    const [global, parents, childs] = [named('global'), named('parent'), named('child')];
    await using node = await mcpNode({ servers: { s: global.setting } });
    const parent = await node.agent.sessions.create({ sessionId: 'parent' });
    const child = await node.agent.sessions.create({ sessionId: 'child', parent: 'parent' });
    const grandchild = await node.agent.sessions.create({ sessionId: 'grandchild', parent: 'child' });
    const sibling = await node.agent.sessions.create({ sessionId: 'sibling' });
    const all = [parent, child, grandchild, sibling];
    const said = (): Promise<readonly unknown[]> => Promise.all(all.map(ask));
    const [fromAll, fromParent, fromChild] = ['global: count', 'parent: count', 'child: count'];

    expect(await said()).toEqual([fromAll, fromAll, fromAll, fromAll]);
    expect(await parent.mcp.add('s', parents.setting)).toMatchObject({ owner: 'session', state: 'ready' });
    expect(await said()).toEqual([fromParent, fromParent, fromParent, fromAll]);
    await child.mcp.add('s', childs.setting);
    expect(await said()).toEqual([fromParent, fromChild, fromChild, fromAll]);
    expect(await stateOf(grandchild)).toEqual(['global s (hidden)', 'inherited s (hidden)', 'inherited s']);
    expect(await stateOf(child)).toEqual(['global s (hidden)', 'inherited s (hidden)', 'session s']);
    expect(await stateOf(sibling)).toEqual(['global s']);

    // What is inherited can be neither taken away nor replaced from below.
    expect(await grandchild.mcp.remove('s')).toBe(false);
    expect(await sibling.mcp.remove('s')).toBe(false);
    await expect(child.mcp.add('s', childs.setting)).rejects.toMatchObject({ code: 'PERDURE_INPUT_INVALID' });
    expect(await said()).toEqual([fromParent, fromChild, fromChild, fromAll]);

    expect(await child.mcp.remove('s')).toBe(true);
    expect(await said()).toEqual([fromParent, fromParent, fromParent, fromAll]);
    await waitUntil(() => !isAlive(childs.place.pid('server')));
    expect(await parent.mcp.remove('s')).toBe(true);
    expect(await said()).toEqual([fromAll, fromAll, fromAll, fromAll]);
    await waitUntil(() => !isAlive(parents.place.pid('server')));
    expect(isAlive(global.place.pid('server'))).toBe(true);
  });

  test('end with their session, and a shared one with the last that uses it [A20]', async () => {
    const [global, own] = [named('global'), named('own')];
    const node = await mcpNode({ servers: { g: global.setting } });
    const parent = await node.agent.sessions.create({ sessionId: 'parent' });
    await parent.mcp.add('s', own.setting);
    const children = await Promise.all(
      ['a', 'b'].map((sessionId) => node.agent.sessions.create({ sessionId, parent: 'parent' })),
    );
    for (const child of children) expect(await ask(child)).toBe('own: count');
    await parent.close();
    expect(isAlive(own.place.pid('server'))).toBe(true);
    await children[0]?.close();
    expect(await ask(children[1] as Session)).toBe('own: count');
    await children[1]?.close();
    expect(isAlive(own.place.pid('server'))).toBe(false);
    expect(isAlive(global.place.pid('server'))).toBe(true);
    await node.runtime.dispose();
    expect(isAlive(global.place.pid('server'))).toBe(false);
  });

  test('come and go at step boundaries: a step that began keeps the tools that it has [P15]', async () => {
    const [first, second] = [named('first', ['slow', 'count']), named('second')];
    const slow = { name: 'mcp__s__slow', input: {} };
    const then = { name: 'mcp__s__count', input: {} };
    const script = [{ calls: [{ ...slow }, { ...then }] }, { text: 'done' }];
    await using node = await mcpNode({ script });
    const session = await node.agent.sessions.create();
    const setting = { ...first.setting, timeoutMs: 1_500, trust: 'hints' as const };
    await session.mcp.add('s', setting);
    const turn = await session.prompt('go');
    await waitUntil(() => first.place.count('slow') === 1);
    await session.mcp.add('other', second.setting);
    expect(await session.mcp.remove('s')).toBe(true);
    // The call that runs has its server until it ends, and so has the one that the same step still makes.
    expect(isAlive(first.place.pid('server'))).toBe(true);
    await turn.finished;
    expect(first.place.count('count')).toBe(1);
    expect(toolsTold(node.model)).toEqual(['mcp__other__count']);
    await waitUntil(() => !isAlive(first.place.pid('server')));
  });

  test('come from plugin packages too; the host goes before them, and a wrong one harms itself alone', async () => {
    const [ours, theirs] = [named('ours'), named('theirs')];
    const logged: string[] = [];
    const bringing = definePlugin({
      name: 'bringing',
      api: 1,
      version: '1.0.0',
      config: z.object({}),
      provides: [MCP_SERVER_SOURCES],
      setup: ({ provide }) => {
        const servers = { s: theirs.setting, extra: theirs.setting, bad: { command: '' }, a__b: theirs.setting };
        provide(MCP_SERVER_SOURCES, { name: 'bringing', servers });
        return {};
      },
    });
    await using node = await mcpNode({ servers: { s: ours.setting }, plugins: [allowing, bringing], logged });
    const session = await node.agent.sessions.create();
    expect(await stateOf(session)).toEqual(['global s', 'global extra']);
    expect(await ask(session)).toBe('ours: count');
    expect(await outputOf(session, 'mcp__extra__count')).toBe('theirs: count');
    expect(logged.filter((line) => line.includes('left out'))).toHaveLength(2);
  });

  test('are refused with the field that is wrong, and nothing is started', async () => {
    await using node = await mcpNode();
    const session = await node.agent.sessions.create();
    const refused = async (name: string, setting: object): Promise<unknown> => {
      const error: unknown = await session.mcp.add(name, setting as never).catch((thrown: unknown) => thrown);
      return (error as { data: { field: string } }).data.field;
    };
    expect(await refused('a__b', { command: 'x' })).toBe('name');
    expect(await refused('a', {})).toBe('setting');
    expect(await refused('a', { command: 'x', url: 'http://x' })).toBe('setting');
    expect(await refused('a', { url: 'file:///etc/passwd' })).toBe('setting.url');
    expect(await refused('a', { url: 'http://u:p@x' })).toBe('setting.url');
    expect(await refused('a', { command: 'x', environment: ['GITHUB_TOKEN'] })).toBe('setting.environment.0');
    expect(await refused('a', { command: 'x', other: 1 })).toBe('setting.other');
    expect(await session.mcp.list()).toEqual([]);
  });
});
