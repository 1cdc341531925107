/**
 * A model of the AI SDK, specification v2, v3 or v4, as any provider package makes it. Hosts hand in instances; a text
 * is never turned into a model.
 */
export interface LanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  /** How many tokens a request and its answer may be together, where the instance tells; a host's own value counts. */
  readonly contextWindow?: number;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** Models that a plugin offers to agents under names. */
export interface ModelSource {
  readonly models: Readonly<Record<string, LanguageModel>>;
}
