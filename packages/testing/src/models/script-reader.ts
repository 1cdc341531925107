import { checkAnswer, checkScript, type Script, type ScriptedAnswer, type ScriptRule } from './script.js';
import type { ScriptRequest } from './script-request.js';

/** Goes through a script. It counts what a list or a rule with `times` has used up; nothing else is remembered. */
export class ScriptReader {
  private readonly script: Script;
  private readonly used = new Map<ScriptRule, number>();
  private position = 0;

  /** Throws PERDURE_CONFIGURATION for a script that is not one. */
  constructor(script: Script) {
    this.script = checkScript(script);
  }

  /** The answer to a request. A request that the script does not foresee fails as one that the provider refuses. */
  async answerTo(request: ScriptRequest): Promise<ScriptedAnswer> {
    if (typeof this.script === 'function') return checkAnswer(await this.script(request));
    return this.nextAnswer(request) ?? unforeseen(request);
  }

  private nextAnswer(request: ScriptRequest): ScriptedAnswer | undefined {
    if (!('rules' in this.script)) return (this.script as readonly ScriptedAnswer[])[this.position++];
    const rule = this.script.rules.find((candidate) => this.fits(candidate, request));
    if (rule !== undefined) this.used.set(rule, (this.used.get(rule) ?? 0) + 1);
    return rule?.answer;
  }

  private fits(rule: ScriptRule, request: ScriptRequest): boolean {
    if (rule.times !== undefined && (this.used.get(rule) ?? 0) >= rule.times) return false;
    const { userTextContains, toolResults, modelId, messageCharactersOver: over } = rule.when ?? {};
    return (
      (userTextContains === undefined || request.lastUserText.includes(userTextContains)) &&
      (toolResults === undefined || request.toolResultsSince.length === toolResults) &&
      (modelId === undefined || request.modelId === modelId) &&
      (over === undefined || JSON.stringify(request.messages).length > over)
    );
  }
}

/** Status 400, so that nobody tries again what cannot succeed. */
function unforeseen(request: ScriptRequest): ScriptedAnswer {
  const asked = JSON.stringify(request.lastUserText.slice(0, 80));
  const behind = request.toolResultsSince.length;
  const message = `The script has no answer to ${asked} with ${behind} tool results behind it.`;
  return { error: { status: 400, message, code: 'script_exhausted' } };
}
