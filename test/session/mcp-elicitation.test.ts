import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Answers, JsonValue } from '@perdure/events';
import type { McpServerSetting, QuestionInteraction, Session } from '@perdure/plugin-api';
import type { Script } from '@perdure/testing';
import { governedBy } from '../fixtures/governed-by.js';
import { mcpNode, outputOf, ServerPlace } from '../fixtures/mcp.js';
import { waitUntil } from '../fixtures/wait-until.js';

let place = new ServerPlace();
afterEach(() => {
  place.remove();
  place = new ServerPlace();
});

const rules = () => ({ decision: 'allow' }) as const;
const people = governedBy(rules, { mode: 'ask' });
const node = (servers: Readonly<Record<string, McpServerSetting>>, script: Script = [], plugins = [people]) =>
  mcpNode({ servers, script, plugins });

/** The one question that waits. */
async function asked(session: Session): Promise<QuestionInteraction> {
  let found: QuestionInteraction | undefined;
  await waitUntil(async () => {
    const [first] = await session.interactions();
    found = first?.kind === 'question' ? first : undefined;
    return found !== undefined;
  });
  return found as unknown as QuestionInteraction;
}

const properties = {
  'full name': { type: 'string', title: 'Name', minLength: 2, maxLength: 9 },
  age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years' },
  mail: { type: 'string', format: 'email' },
  agrees: { type: 'boolean' },
  pet: { type: 'string', enum: ['c', 'd'], enumNames: ['Cat', 'Dog'], default: 'c' },
  fish: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['tuna', 'cod', 'eel'] } },
};
const question = {
  message: 'Who are\u202e you?',
  requestedSchema: { type: 'object', properties, required: ['full name', 'age', 'agrees'] },
};

describe('a question of an MCP server [P9]', () => {
  test.each(['stdio', 'http'])('over %s is one of the session: a form that is checked', async (transport) => {
    const setting =
      transport === 'stdio'
        ? place.stdio({}, { timeoutMs: 250, maxTimeoutMs: 300 })
        : { url: `http://127.0.0.1:${(await place.http()).port}/mcp`, timeoutMs: 250, maxTimeoutMs: 300 };
    const script = [{ calls: [{ name: 'mcp__s__ask', input: { question } }] }, { text: 'done' }];
    await using made = await node({ s: setting }, script);
    const session = await made.agent.sessions.create();
    const turn = await session.prompt('go');
    const { id, ...form } = await asked(session);
    expect(form).toMatchObject({
      tool: 'mcp__s__ask',
      title: '"s" asks: Who are you?',
      questions: [
        { kind: 'text', id: 'field_1', prompt: 'Name', minLength: 2, maxLength: 9 },
        { kind: 'text', id: 'age', prompt: 'age: In years', format: 'integer', minimum: 0, maximum: 150 },
        { kind: 'text', id: 'mail', format: 'email', isOptional: true },
        { kind: 'single-select', id: 'agrees', options: [{ value: 'true' }, { value: 'false' }] },
        {
          id: 'pet',
          isOptional: true,
          options: [
            { value: 'c', label: 'Cat' },
            { value: 'd', label: 'Dog' },
          ],
        },
        { kind: 'multi-select', id: 'fish', isOptional: true, min: 1, max: 2 },
      ],
    });
    // Longer than the server may be silent, and than a call may take in all.
    await sleep(350);
    const answers = { field_1: 'Ada', age: '36', agrees: 'true', fish: ['eel', 'cod'] };
    const wrongOnes: readonly (readonly [Answers, string])[] = [
      [{ ...answers, age: '36.5' }, 'age'],
      [{ ...answers, mail: 'nowhere' }, 'mail'],
      [{ ...answers, fish: ['shark'] }, 'fish'],
      [{ field_1: 'Ada', age: '36' }, 'agrees'],
    ];
    for (const [wrong, field] of wrongOnes) {
      const refused = session.respond({ id, by: 'ada', answers: wrong });
      await expect(refused).rejects.toMatchObject({ data: { field: `response.answers.${field}` } });
    }
    await session.respond({ id, by: 'ada', answers });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    const content = { 'full name': 'Ada', age: 36, agrees: true, pet: 'c', fish: ['eel', 'cod'] };
    const [result] = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
    expect(JSON.parse(String(result?.output))).toEqual({ action: 'accept', content });
  });

  test('that somebody declines or nobody answers is declined or cancelled', async () => {
    const late = governedBy(rules, { mode: 'ask', expiresInMs: 100 });
    for (const [plugin, declines, output] of [
      [people, true, '{"action":"decline"}'],
      [late, false, { unasked: [{ code: 'PERDURE_TOOL_UNANSWERED', asked: 'Who are you?' }] }],
    ] as const) {
      await using made = await node({ s: place.stdio() }, [], [plugin]);
      const session = await made.agent.sessions.create();
      const called = outputOf(session, 'mcp__s__ask');
      if (declines) await session.respond({ id: (await asked(session)).id, by: 'ada', decline: true });
      const got = await called;
      if (typeof output === 'string') expect(got).toBe(output);
      else expect(got).toMatchObject({ ...output, content: [{ text: '{"action":"cancel"}' }] });
    }
  });

  test('is not put where nobody is there to be asked, and the model learns why', async () => {
    await using made = await mcpNode({ servers: { s: place.stdio() } });
    const session = await made.agent.sessions.create();
    expect(await outputOf(session, 'mcp__s__ask')).toEqual({
      content: [{ type: 'text', text: '{"action":"decline"}' }],
      unasked: [
        { code: 'PERDURE_TOOL_NOBODY_TO_ASK', asked: 'Who are you?', reason: expect.stringContaining('no approval') },
      ],
    });
  });

  test('that only sends people to an address, or is no form, is refused in good order', async () => {
    await using made = await node({ s: place.stdio() });
    const session = await made.agent.sessions.create();
    const ask = (given: object) => outputOf(session, 'mcp__s__ask', { question: given } as JsonValue);
    const url = { mode: 'url', url: 'http://127.0.0.1:9/pay', elicitationId: 'e' };
    expect(await ask(url)).toContain('does not support URL-mode');
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
    expect(await ask({ requestedSchema: nested })).toContain('-32602');
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, { type: 'string' }]));
    expect(await ask({ requestedSchema: { type: 'object', properties: many } })).toMatchObject({
      unasked: [{ code: 'PERDURE_INPUT_INVALID' }],
    });
    expect(await session.interactions()).toEqual([]);
    const empty = ask({ requestedSchema: { type: 'object', properties: {} } });
    await session.respond({ id: (await asked(session)).id, by: 'ada', answers: { agreed: 'yes' } });
    expect(await empty).toBe('{"action":"accept","content":{}}');
  });

  test('is taken back with its call, by the server, by a stop and by the end of the server [P3]', async () => {
    await using made = await node({ s: place.stdio() }, [{ calls: [{ name: 'mcp__s__ask', input: {} }] }]);
    const session = await made.agent.sessions.create();
    const gone = async (): Promise<void> => {
      await waitUntil(async () => (await session.interactions()).length === 0);
    };
    expect(await outputOf(session, 'mcp__s__ask', { question: { withdrawAfterMs: 5_000 } })).toBe('never mind');
    await gone();
    const turn = await session.prompt('go');
    await asked(session);
    await session.stop();
    expect((await turn.finished).status).toBe('cancelled');
    await gone();
    const called = session.governedTool('mcp__s__ask', {});
    await asked(session);
    process.kill(place.pid('server'), 'SIGKILL');
    expect(await called).toMatchObject({ status: 'unknown' });
    await gone();
    expect(place.count('ask')).toBe(3);
  });

  test('is declined while several calls run, for nobody could tell whose it is', async () => {
    await using made = await node({ s: place.stdio() });
    const [one, other] = [await made.agent.sessions.create(), await made.agent.sessions.create()];
    const slow = one.governedTool('mcp__s__slow', {}).catch(() => undefined);
    await waitUntil(() => place.count('slow') === 1);
    expect(await outputOf(other, 'mcp__s__ask')).toMatchObject({ unasked: [{ code: 'PERDURE_TOOL_ASKS' }] });
    expect([...(await one.interactions()), ...(await other.interactions())]).toEqual([]);
    await one.close();
    await slow;
  });

  test('of a published server is answered field by field', async () => {
    const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
    const args = [join(dirname(manifest), 'dist/index.js'), 'stdio'];
    await using made = await node({ all: { command: process.execPath, args } });
    const session = await made.agent.sessions.create();
    const called = outputOf(session, 'mcp__all__trigger-elicitation-request');
    const { id, questions } = await asked(session);
    expect(questions).toHaveLength(13);
    await session.respond({ id, by: 'ada', answers: { name: 'Ada', integer: '7' } });
    const output = JSON.stringify(await called);
    expect(output).toContain('Name: Ada');
    expect(output).toContain('Favorite Integer: 7');
  });
});
