import { afterEach, describe, expect, test } from 'vitest';
import type { McpServerSetting } from '@perdure/plugin-api';
import { isAlive, mcpNode, outputOf, ServerPlace, toolsTold } from '../fixtures/mcp.js';
import { waitUntil } from '../fixtures/wait-until.js';

let place = new ServerPlace();
afterEach(() => {
  place.remove();
  place = new ServerPlace();
});

const trusted: Partial<McpServerSetting> = { trust: 'hints' };

describe('a server that is killed [P3]', () => {
  test('between calls is started anew, and the call is made once', async () => {
    await using node = await mcpNode({ servers: { s: place.stdio() } });
    const session = await node.agent.sessions.create();
    expect(await outputOf(session, 'mcp__s__count')).toBe('fixture: count');
    process.kill(place.pid('server'), 'SIGKILL');
    // Until its end is noticed nobody can tell whether it still takes what is written to it.
    while ((await session.mcp.list())[0]?.state === 'ready') await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await outputOf(session, 'mcp__s__count')).toBe('fixture: count');
    expect(place.log()).toEqual(['initialize 2025-11-25', 'count', 'initialize 2025-11-25', 'count']);
  });

  test('in a call leaves that unknown, and it is never made again, whatever an untrusted server calls it', async () => {
    await using node = await mcpNode({ servers: { s: place.stdio() } });
    const session = await node.agent.sessions.create();
    for (const name of ['die_once', 'die_read', 'die_idempotent']) {
      const outcome = await session.governedTool(`mcp__s__${name}`, {});
      expect(outcome).toMatchObject({ status: 'unknown', failure: { code: 'PERDURE_TOOL_UNKNOWN_OUTCOME' } });
      expect(place.count(name)).toBe(1);
    }
    expect(await outputOf(session, 'mcp__s__read')).toBe('fixture: read');
  });

  test('in a call that reads or is idempotent, by a server that is trusted, has it made once more', async () => {
    await using node = await mcpNode({ servers: { s: place.stdio({}, trusted) } });
    const session = await node.agent.sessions.create();
    for (const name of ['die_read', 'die_idempotent']) {
      expect(await outputOf(session, `mcp__s__${name}`)).toBe(`fixture: ${name}`);
      expect(place.count(name)).toBe(2);
    }
    expect(await session.governedTool('mcp__s__die_once', {})).toMatchObject({ status: 'unknown' });
    expect(place.count('die_once')).toBe(1);
  });

  test('over HTTP is found again between calls, and in a call the call is unknown', async () => {
    const first = await place.http();
    const url = `http://127.0.0.1:${first.port}/mcp`;
    await using node = await mcpNode({ servers: { s: { url } } });
    const session = await node.agent.sessions.create();
    expect(await outputOf(session, 'mcp__s__count')).toBe('fixture: count');
    first.child.kill('SIGKILL');
    await place.http({ port: first.port });
    expect(await outputOf(session, 'mcp__s__count')).toBe('fixture: count');
    expect(place.count('count')).toBe(2);
    expect(await session.governedTool('mcp__s__die_once', {})).toMatchObject({ status: 'unknown' });
    expect(place.count('die_once')).toBe(1);
    const gone = await session.governedTool('mcp__s__count', {});
    expect(gone).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_MCP_UNAVAILABLE' } });
    expect((await session.mcp.list())[0]).toMatchObject({ state: 'failed', reason: expect.stringMatching(/reached/) });
  });
});

describe('a server', () => {
  test('that cannot be started harms itself alone, and its state tells why [P19]', async () => {
    const servers = { bad: { command: '/nowhere/at-all' }, dead: { command: 'false' }, s: place.stdio() };
    await using node = await mcpNode({ servers });
    const session = await node.agent.sessions.create();
    expect(await session.mcp.list()).toMatchObject([
      { name: 'bad', state: 'failed', reason: expect.stringContaining('ENOENT'), tools: [] },
      { name: 'dead', state: 'failed', tools: [] },
      { name: 's', state: 'ready', reason: null, protocolVersion: '2025-11-25', software: 'fixture 1' },
    ]);
    expect(await outputOf(session, 'mcp__s__count')).toBe('fixture: count');
  });

  test.each(['2024-11-05', '2025-03-26', '2025-06-18'])('of the protocol %s is talked to in it', async (version) => {
    await using node = await mcpNode({ servers: { s: place.stdio({ version }) } });
    const session = await node.agent.sessions.create();
    expect((await session.mcp.list())[0]).toMatchObject({ state: 'ready', protocolVersion: version });
    expect(await outputOf(session, 'mcp__s__count')).toBe('fixture: count');
  });

  test('is told when a call is stopped or takes too long, and ends with all that it started', async () => {
    const slowly = place.stdio({ hasChild: true, isSilent: true }, { timeoutMs: 300 });
    const node = await mcpNode({ servers: { s: slowly }, script: [{ calls: [{ name: 'mcp__s__slow', input: {} }] }] });
    const session = await node.agent.sessions.create();
    expect(await session.governedTool('mcp__s__slow', {})).toMatchObject({ status: 'unknown' });
    await waitUntil(() => place.count('cancelled') === 1);
    const turn = await session.prompt('go');
    await waitUntil(() => place.count('slow') === 2);
    await session.stop();
    expect(await turn.finished).toMatchObject({ status: 'cancelled' });
    await waitUntil(() => place.count('cancelled') === 2);
    const pids = [place.pid('server'), place.pid('child')];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await node.runtime.dispose();
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  test('that shows that it lives may take longer than its silence, and no longer than it may in all', async () => {
    const limits = { timeoutMs: 400, maxTimeoutMs: 2_000 };
    const servers = { s: place.stdio({}, limits), impatient: place.stdio({}, { ...limits, maxTimeoutMs: 450 }) };
    await using node = await mcpNode({ servers });
    const session = await node.agent.sessions.create();
    expect(await outputOf(session, 'mcp__s__lively')).toBe('still here');
    expect(await session.governedTool('mcp__impatient__lively', {})).toMatchObject({ status: 'unknown' });
  });

  test('that has another tool offers it from the next step on [P15]', async () => {
    const call = { name: 'mcp__s__grow', input: {} };
    const script = [{ calls: [call] }, { calls: [{ name: 'mcp__s__slow', input: {} }] }, { text: 'done' }];
    await using node = await mcpNode({ servers: { s: place.stdio({}, { timeoutMs: 1_500 }) }, script });
    const session = await node.agent.sessions.create();
    const turn = await session.prompt('go');
    await turn.finished;
    const told = node.model.calls.map(({ tools }) => (tools ?? []).some(({ name }) => name === 'mcp__s__grown'));
    expect(told).toEqual([false, expect.any(Boolean), true]);
    expect(await outputOf(session, 'mcp__s__grown')).toBe('fixture: grown');
    expect(toolsTold(node.model)).toContain('mcp__s__count');
  });
});

describe('secrets [P16]', () => {
  test('reach a server by reference, and come back from nowhere: answers, errors, states, logs', async () => {
    const TOKEN = 'tok_5f3a9c8e1b7d';
    process.env['NOT_FOR_SERVERS'] = 'kept-from-servers';
    const logged: string[] = [];
    const http = await place.http();
    const headers = { authorization: 'Bearer secret://TOKEN' };
    const servers = {
      s: place.stdio({}, { variables: { TOKEN: 'secret://TOKEN' } } as Partial<McpServerSetting>),
      h: { url: `http://127.0.0.1:${http.port}/mcp`, headers },
      lost: place.stdio({}, { variables: { TOKEN: 'secret://OTHER' } } as Partial<McpServerSetting>),
    };
    await using node = await mcpNode({ servers, secrets: { TOKEN }, logged });
    const session = await node.agent.sessions.create();
    const output = String(await outputOf(session, 'mcp__s__leak'));
    expect(output).toContain('"TOKEN":"secret://TOKEN"');
    expect(output).not.toContain('kept-from-servers');
    expect(place.log()).toContain(`authorization Bearer ${TOKEN}`);
    const died = await session.governedTool('mcp__s__die_once', {});
    const states = await session.mcp.list();
    expect(states).toMatchObject([
      { name: 's', state: 'failed', reason: expect.stringContaining('the token is secret://TOKEN') },
      { name: 'h', state: 'ready' },
      { name: 'lost', state: 'failed', reason: expect.stringContaining('OTHER') },
    ]);
    expect(JSON.stringify([output, died, states, logged])).not.toContain(TOKEN);
    expect(logged.join('\n')).toContain('secret://TOKEN');
  });
});
