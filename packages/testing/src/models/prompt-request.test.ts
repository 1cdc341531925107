import { describe, expect, test } from 'vitest';
import { requestOfChat } from './chat-request.js';
import { promptRequest } from './prompt-request.js';

const text = (value: string) => ({ type: 'text', text: value });
const call = (id: string, name: string) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: {} });
const result = (id: string, name: string, output: unknown) => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: name,
  output,
});
const toolCall = (id: string, name: string) => ({ id, type: 'function' as const, function: { name, arguments: '{}' } });

describe('what a script sees', () => {
  test('of a prompt of the AI SDK: the last user text and the results behind it', () => {
    const prompt = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [text('first')] },
      { role: 'assistant', content: [call('call_0', 'old')] },
      { role: 'tool', content: [result('call_0', 'old', { type: 'text', value: 'not since' })] },
      {
        role: 'user',
        content: [text('second '), { type: 'file', mediaType: 'image/png', data: 'AA==' }, text('part')],
      },
      { role: 'assistant', content: [call('call_0', 'read'), call('call_1', 'list')] },
      {
        role: 'tool',
        content: [
          result('call_0', 'read', { type: 'json', value: { lines: 3 } }),
          result('call_1', 'list', { type: 'execution-denied', reason: 'not allowed' }),
        ],
      },
    ];
    const request = promptRequest({ prompt, tools: [{ name: 'read' }, { name: 'list' }] }, 'm');
    expect(request.lastUserText).toBe('second part');
    expect(request.toolResultsSince).toEqual([
      { providerCallId: 'call_0', tool: 'read', output: { lines: 3 } },
      { providerCallId: 'call_1', tool: 'list', output: 'not allowed' },
    ]);
    expect(request.tools).toEqual(['read', 'list']);
    expect(request.messages).toBe(prompt);
    expect(request.modelId).toBe('m');
  });

  test('of a chat request: a result belongs to the nearest call with its id', () => {
    const request = requestOfChat({
      model: 'm',
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: null, tool_calls: [toolCall('call_0', 'read')] },
        { role: 'tool', tool_call_id: 'call_0', content: 'one' },
        { role: 'assistant', content: null, tool_calls: [toolCall('call_0', 'list')] },
        { role: 'tool', tool_call_id: 'call_0', content: 'two' },
      ],
    });
    expect(request.toolResultsSince).toEqual([
      { providerCallId: 'call_0', tool: 'read', output: 'one' },
      { providerCallId: 'call_0', tool: 'list', output: 'two' },
    ]);
    expect(request.lastUserText).toBe('go');
  });

  test('of a prompt without a user message: nothing', () => {
    const request = promptRequest({ prompt: [{ role: 'system', content: 'alone' }] }, 'm');
    expect([request.lastUserText, request.toolResultsSince, request.tools]).toEqual(['', [], []]);
  });
});
