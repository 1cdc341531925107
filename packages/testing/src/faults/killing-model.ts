import { TransformStream, type ReadableStream } from 'node:stream/web';
import type { LanguageModel } from '@perdure/plugin-api';
import type { KillPlan } from './kill-plan.js';

/**
 * The model, with the points `model:before` (nothing was sent), `model:mid-stream` (a delta was handed on and the next
 * part is wanted) and `model:after` (the provider has answered whole, and nobody knows). They carry the model id.
 */
export function killingModel(model: LanguageModel, plan: KillPlan): LanguageModel {
  const labels = [model.modelId];
  return {
    ...('supportedUrls' in model ? { supportedUrls: model.supportedUrls } : {}),
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    async doGenerate(options) {
      plan.pass({ point: 'model:before', labels });
      const answer = await model.doGenerate(options);
      plan.pass({ point: 'model:after', labels });
      return answer;
    },
    async doStream(options) {
      plan.pass({ point: 'model:before', labels });
      const result = (await model.doStream(options)) as { readonly stream: ReadableStream<{ readonly type: string }> };
      return { ...result, stream: result.stream.pipeThrough(passingStream(plan, labels)) };
    },
  };
}

/** It asks for a part only when its reader does, so the points stand where the reader is. */
function passingStream(
  plan: KillPlan,
  labels: readonly string[],
): TransformStream<{ readonly type: string }, { readonly type: string }> {
  let afterDelta = false;
  return new TransformStream(
    {
      transform(part, controller) {
        if (afterDelta) plan.pass({ point: 'model:mid-stream', labels });
        afterDelta = part.type.endsWith('-delta');
        if (part.type === 'finish') plan.pass({ point: 'model:after', labels });
        controller.enqueue(part);
      },
    },
    { highWaterMark: 1 },
    { highWaterMark: 0 },
  );
}
