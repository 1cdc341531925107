import { describe, expect, test } from 'vitest';
import type { ToolCallRequest } from '@perdure/plugin-api';
import { terminalLine, TerminalAsker } from './terminal-asker.js';
import { fakeScreen } from './fake-stream.fixture.js';

const signal = new AbortController().signal;
const call = (path: string, input: ToolCallRequest['input'] = { file_path: path }): ToolCallRequest => ({
  callId: 'c',
  tool: 'write',
  input,
  effect: 'once',
  origin: 'model',
  sessionId: 's',
  turnId: 't',
  workspace: '/w',
  subjects: [path],
});
const open = (path: string) =>
  ({ decision: 'ask', reason: 'no rule allows it', suggestion: `write(${path})` }) as const;

function asker(answers: string[]) {
  const { screen, shown } = fakeScreen(true, { NO_COLOR: '1' });
  const questions: string[] = [];
  const askLine = (question: string): Promise<string> => {
    questions.push(question);
    return Promise.resolve(answers.shift() ?? '');
  };
  return { asker: new TerminalAsker(screen, askLine), questions, shown };
}

describe('the question at a terminal', () => {
  test('is put each time anew when the tool itself wants an agreement', async () => {
    const { asker: one, questions } = asker(['a', 'n', 'a', 'y']);
    expect(await one.ask(call('a'), open('a'), signal)).toBe('allow');
    const confirmation = { decision: 'ask', reason: 'outside the sandbox', isConfirmation: true } as const;
    expect(await one.ask(call('a'), confirmation, signal)).toBe('deny');
    // "always" is no answer to it.
    expect(await one.ask(call('a'), confirmation, signal)).toBe('allow');
    expect(questions).toHaveLength(4);
    expect(questions[1]).toBe('  Allow it? (y = yes, n = no) ');
  });

  test('shows the call and takes yes and no, and nothing else', async () => {
    const { asker: one, questions, shown } = asker(['', 'maybe', 'Y', 'no']);
    expect(await one.ask(call('a'), open('a'), signal)).toBe('allow');
    expect(await one.ask(call('a'), open('a'), signal)).toBe('deny');
    expect(questions).toHaveLength(4);
    expect(questions[0]).toBe('  Allow it? (y = yes, n = no, a = always: write(a)) ');
    expect(shown()).toBe('? write a\n  no rule allows it\n'.repeat(2));
  });

  test('"always" allows what the suggested rule allows, without another question', async () => {
    const { asker: one, questions } = asker(['a', 'n']);
    expect(await one.ask(call('a'), open('a'), signal)).toBe('allow');
    expect(await one.ask(call('a'), open('a'), signal)).toBe('allow');
    expect(questions).toHaveLength(1);
    expect(await one.ask(call('b'), open('b'), signal)).toBe('deny');
  });

  test('"always" is not there without a rule for it', async () => {
    const { asker: one, questions } = asker(['a', 'n']);
    expect(await one.ask(call('a'), { decision: 'ask' }, signal)).toBe('deny');
    expect(questions).toEqual(['  Allow it? (y = yes, n = no) ', '  Allow it? (y = yes, n = no) ']);
  });

  test('shows all arguments of a call that has more than one, without control characters', async () => {
    const { asker: one, shown } = asker(['n']);
    const input = { file_path: 'a', content: 'x\u001b[2J', list: Array.from({ length: 60 }, (_, index) => index) };
    await one.ask(call('a', input), open('a'), signal);
    expect(shown()).toContain('"content": "x\\u001b[2J"');
    expect(shown()).not.toContain('\u001b');
    expect(shown()).toMatch(/… and \d+ more lines/);
  });
});

describe('a line from the terminal', () => {
  test('is what was typed, and "no" at the end of the input', async () => {
    const { screen } = fakeScreen(true);
    const { input } = screen.streams;
    const ask = terminalLine(screen.streams, () => undefined);
    const typed = ask('? ', signal);
    input.push('yes\n');
    expect(await typed).toBe('yes');
    const ended = ask('? ', signal);
    input.push(null);
    expect(await ended).toBe('no');
  });

  test('ends with the turn, and tells of a Ctrl-C', async () => {
    const { screen } = fakeScreen(true);
    const controller = new AbortController();
    let interrupts = 0;
    const asked = terminalLine(screen.streams, () => interrupts++)('? ', controller.signal);
    screen.streams.input.push('\u0003');
    await new Promise((resolve) => setImmediate(resolve));
    expect(interrupts).toBe(1);
    controller.abort();
    await expect(asked).rejects.toThrow();
  });
});
