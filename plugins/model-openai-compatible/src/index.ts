export { openAiCompatibleModel } from './open-ai-compatible-model.js';
export type { OpenAiCompatibleModelOptions } from './open-ai-compatible-model.js';
export { modelOpenAiCompatible, modelOpenAiCompatible as default } from './plugin.js';
