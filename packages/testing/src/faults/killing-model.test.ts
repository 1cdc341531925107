import { ReadableStream } from 'node:stream/web';
import type { LanguageModel } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { ScriptedModel } from '../models/scripted-model.js';
import { recordKillPoints } from './kill-plan.js';
import { killingModel } from './killing-model.js';

const prompt = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }];

async function stream(model: LanguageModel): Promise<ReadableStream<{ readonly type: string }>> {
  const result = (await model.doStream({ prompt } as never)) as { stream: ReadableStream<{ readonly type: string }> };
  return result.stream;
}

describe('a killing model', () => {
  test('is the model, and hands on its parts one by one', async () => {
    const inner = new ScriptedModel(() => ({ text: 'abc', deltas: 3 }), { specification: 'v4', modelId: 'm' });
    const recorder = recordKillPoints();
    const model = killingModel(inner, recorder);
    expect(model).toMatchObject({ specificationVersion: 'v4', provider: 'scripted', modelId: 'm', supportedUrls: {} });
    const seen: string[] = [];
    for await (const { type } of await stream(model)) seen.push(`${type} at ${recorder.passed.length}`);
    expect(seen).toEqual([
      'stream-start at 1',
      'ping at 1',
      'response-metadata at 1',
      'text-start at 1',
      'text-delta at 1',
      'text-delta at 2',
      'text-delta at 3',
      'text-end at 4',
      'finish at 5',
    ]);
    expect(recorder.passed.at(-1)).toEqual({ point: 'model:after', match: 'm', occurrence: 1 });
  });

  test('keeps what else a provider answers, and fails as it does', async () => {
    const recorder = recordKillPoints();
    const request = { body: 'sent' };
    const inner = {
      specificationVersion: 'v3',
      provider: 'p',
      modelId: 'm',
      doStream: async () => ({ stream: new ReadableStream(), request }),
      doGenerate: () => Promise.reject(new Error('refused')),
    } satisfies LanguageModel;
    const model = killingModel(inner, recorder);
    expect(await model.doStream({ prompt } as never)).toMatchObject({ request });
    await expect(model.doGenerate({ prompt } as never)).rejects.toThrow('refused');
    expect(recorder.passed.map(({ point }) => point)).toEqual(['model:before', 'model:before']);
  });

  test('lets go of a stream that nobody reads any more', async () => {
    let reason: unknown;
    const stalled = new ReadableStream({ cancel: (cancelled) => void (reason = cancelled) });
    const inner = {
      specificationVersion: 'v3',
      provider: 'p',
      modelId: 'm',
      doStream: async () => ({ stream: stalled }),
      doGenerate: () => Promise.reject(new Error('refused')),
    } satisfies LanguageModel;
    const reader = (await stream(killingModel(inner, recordKillPoints()))).getReader();
    const pending = reader.read();
    await reader.cancel('enough');
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(reason).toBe('enough');
  });
});
