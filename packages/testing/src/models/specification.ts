import type { Usage } from '@perdure/events';
import type { CompleteAnswer } from './complete-answer.js';

/** The versions of the AI SDK's model specification. */
export type Specification = 'v2' | 'v3' | 'v4';

type Unified = CompleteAnswer['finish'];

export interface UsageV2 {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
}

export interface UsageV3 {
  readonly inputTokens: {
    readonly total: number | undefined;
    readonly noCache: number | undefined;
    readonly cacheRead: number | undefined;
    readonly cacheWrite: number | undefined;
  };
  readonly outputTokens: {
    readonly total: number | undefined;
    readonly text: number | undefined;
    readonly reasoning: number | undefined;
  };
}

export interface FinishV3 {
  readonly unified: Unified;
  readonly raw: string | undefined;
}

export interface FinishV4 {
  readonly unified: Unified | 'interrupted';
  readonly raw: string | undefined;
}

export interface UsageOf {
  readonly v2: UsageV2;
  readonly v3: UsageV3;
  readonly v4: UsageV3;
}

export interface FinishOf {
  readonly v2: Unified | 'unknown';
  readonly v3: FinishV3;
  readonly v4: FinishV4;
}

/** What the versions differ in. */
export interface SpecificationShape<Version extends Specification> {
  readonly usage: (usage: Usage | undefined) => UsageOf[Version];
  readonly finish: (finish: Unified) => FinishOf[Version];
  /** Of a whole answer that gives no reason why it ended. */
  readonly noFinish: FinishOf[Version];
  /** Of a stream that ended without one; v4 has a word for it, the others send an error part before it. */
  readonly streamWithoutFinish: FinishOf[Version];
  readonly tellsInterruption: boolean;
  /** Streams may hold parts that only keep the connection alive. */
  readonly pings: boolean;
}

const shapes: { readonly [Version in Specification]: SpecificationShape<Version> } = {
  v2: {
    usage: usageV2,
    finish: (finish) => finish,
    noFinish: 'unknown',
    streamWithoutFinish: 'error',
    tellsInterruption: false,
    pings: false,
  },
  v3: {
    usage: usageV3,
    finish: finishV3,
    noFinish: { unified: 'other', raw: undefined },
    streamWithoutFinish: { unified: 'error', raw: undefined },
    tellsInterruption: false,
    pings: false,
  },
  v4: {
    usage: usageV3,
    finish: finishV3,
    noFinish: { unified: 'other', raw: undefined },
    streamWithoutFinish: { unified: 'interrupted', raw: undefined },
    tellsInterruption: true,
    pings: true,
  },
};

export function specificationShape<Version extends Specification>(version: Version): SpecificationShape<Version> {
  return shapes[version];
}

function finishV3(finish: Unified): FinishV3 {
  return { unified: finish, raw: finish.replace('-', '_') };
}

function usageV2(usage: Usage | undefined): UsageV2 {
  if (usage === undefined) return { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined };
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.totalTokens,
    reasoningTokens: usage.reasoningTokens,
    cachedInputTokens: usage.cacheReadTokens,
  };
}

function usageV3(usage: Usage | undefined): UsageV3 {
  if (usage === undefined) {
    return {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
  }
  return {
    inputTokens: {
      total: usage.inputTokens,
      noCache: Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens),
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWriteTokens,
    },
    outputTokens: {
      total: usage.outputTokens,
      text: Math.max(0, usage.outputTokens - usage.reasoningTokens),
      reasoning: usage.reasoningTokens,
    },
  };
}
