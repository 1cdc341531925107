import { withFiles, type Tool, type ToolContext, type ToolFailure } from '@perdure/plugin-api';
import { batchInput, type BatchInput } from './batch-input.js';
import { runBatch } from './run-batch.js';

/**
 * Makes several calls in one. Each is a part of this call with gates, a permission and an outcome of its own, and is
 * settled once: that is why the whole may be run again after a crash.
 */
export const batchTool: Tool = {
  description:
    'Makes 1 to 32 tool calls at once. Invocations of one step run at the same time when all of them only read, else ' +
    'in order; steps run one after the other, and later ones may refer to earlier results.',
  inputSchema: batchInput,
  effect: 'idempotent',
  permissionSubjects: ({ invocations }: BatchInput) => invocations.map(({ tool }) => tool),
  execute: async (input: BatchInput, { calls, abortSignal }: ToolContext) => {
    const report = await runBatch(input, calls, abortSignal);
    // Files of its parts are shown as files of the whole.
    if (report.status !== 'failed')
      return withFiles(
        report,
        report.results.flatMap(({ files = [] }) => files),
      );
    const failure: ToolFailure = {
      code: 'batch_failed',
      message: 'No invocation of the batch was completed.',
      data: {
        results: report.results.map(({ files: _, ...result }) => result),
        failed_indices: [...report.failed_indices],
      },
    };
    throw failure;
  },
};
