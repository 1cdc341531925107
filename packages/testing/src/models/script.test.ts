import { isPerdureError } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { checkAnswer, checkScript, scriptByRound, type Script } from './script.js';
import { ScriptReader } from './script-reader.js';
import type { ScriptRequest } from './script-request.js';

const result = { providerCallId: 'call_0', tool: 'add', output: 1 };

function request(lastUserText: string, toolResults = 0, modelId = 'scripted'): ScriptRequest {
  const toolResultsSince = Array.from({ length: toolResults }, () => result);
  return { lastUserText, toolResultsSince, messages: [], tools: [], modelId };
}

async function textOf(reader: ScriptReader, ...of: Parameters<typeof request>): Promise<string | undefined> {
  const answer = await reader.answerTo(request(...of));
  return answer.text ?? answer.error?.message;
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('scripts', () => {
  test('a list answers in the order of the requests', async () => {
    const reader = new ScriptReader([{ text: 'one' }, { text: 'two' }]);
    expect([await textOf(reader, 'a'), await textOf(reader, 'b')]).toEqual(['one', 'two']);
  });

  test('a request that is not foreseen is refused for good, and the refusal says which', async () => {
    const reader = new ScriptReader([]);
    const { error } = await reader.answerTo(request('hello', 2));
    expect(error).toMatchObject({ status: 400, code: 'script_exhausted' });
    expect(error?.message).toContain('"hello" with 2 tool results');
  });

  test('rounds are found by the number of tool results, also behind parallel calls', async () => {
    const call = { name: 'add', input: {} };
    const script = scriptByRound([{ text: 'r0', calls: [call, call] }, { text: 'r1', calls: [call] }, { text: 'r2' }]);
    const answers = [0, 2, 3].map((results) => textOf(new ScriptReader(script), 'go', results));
    expect(await Promise.all(answers)).toEqual(['r0', 'r1', 'r2']);
    expect(await textOf(new ScriptReader(script), 'go', 1)).toContain('no answer');
  });

  test('rounds repeat for every prompt and survive JSON', async () => {
    const script = JSON.parse(JSON.stringify(scriptByRound([{ text: 'again' }]))) as Script;
    const reader = new ScriptReader(script);
    expect([await textOf(reader, 'a'), await textOf(reader, 'b')]).toEqual(['again', 'again']);
  });

  test('a round behind one that ends the turn is an error', () => {
    const error = thrownBy(() => scriptByRound([{ text: 'over' }, { text: 'never' }]));
    expect(isPerdureError(error, 'PERDURE_CONFIGURATION')).toBe(true);
    expect(error).toMatchObject({ data: { field: 'rounds.0.calls' } });
  });

  test('the first rule that fits and is not used up answers', async () => {
    const reader = new ScriptReader({
      rules: [
        { times: 2, answer: { text: 'busy' } },
        { when: { userTextContains: 'weather', toolResults: 1 }, answer: { text: 'sunny' } },
        { when: { modelId: 'small' }, answer: { text: 'from small' } },
      ],
    });
    const asked = [
      await textOf(reader, 'the weather', 1),
      await textOf(reader, 'anything'),
      await textOf(reader, 'the weather', 1),
      await textOf(reader, 'the weather', 0, 'small'),
    ];
    expect(asked).toEqual(['busy', 'busy', 'sunny', 'from small']);
    expect(await textOf(reader, 'the weather', 0)).toContain('no answer');
  });

  test('a function sees the request and may wait', async () => {
    const reader = new ScriptReader(async (asked) => {
      await Promise.resolve();
      return { text: `${asked.lastUserText} ${asked.toolResultsSince.length}` };
    });
    expect(await textOf(reader, 'go', 3)).toBe('go 3');
  });

  test.each([
    ['script.0', 'misspelt', [{ misspelt: 'text' }]],
    ['script.1.cutAfter', 'expected number to be >=0', [{}, { cutAfter: -1 }]],
    ['script.0.calls.0.name', 'expected string to have >=1 characters', [{ calls: [{ name: '' }] }]],
    ['script.rules.0.times', 'expected number to be >0', { rules: [{ times: 0, answer: {} }] }],
    ['script', 'expected object', 'a text'],
  ])('a script that is wrong at %s is refused by that name', (field, reason, script) => {
    const error = thrownBy(() => checkScript(script));
    expect(isPerdureError(error, 'PERDURE_CONFIGURATION')).toBe(true);
    expect(error).toMatchObject({ data: { field, reason: expect.stringContaining(reason) as string } });
  });

  test.each([
    ['answer', { cutAfter: 1, endAfter: 1 }, 'one fault'],
    ['answer', { cutAfter: 1, error: { status: 500 } }, 'cutAfter and error'],
    ['answer.errorAfter', { errorAfter: 1 }, 'needs an error'],
    ['answer.deltas', { text: 'abc', deltas: ['a', 'b'] }, 'add up'],
    ['answer.calls.0.inputText', { calls: [{ name: 'a', input: {}, inputText: '{}' }] }, 'in the place'],
    ['answer.error.status', { error: { status: 200 } }, '400'],
  ])('an answer that contradicts itself is refused at %s', (field, answer, reason) => {
    const error = thrownBy(() => checkAnswer(answer)) as { data: { field: string; reason: string } };
    expect(error.data.field).toBe(field);
    expect(error.data.reason).toContain(reason);
  });

  test('what a function answers is checked too', async () => {
    const reader = new ScriptReader(() => ({ text: 'x', endAfter: -1 }));
    await expect(reader.answerTo(request('go'))).rejects.toMatchObject({ code: 'PERDURE_CONFIGURATION' });
  });
});
