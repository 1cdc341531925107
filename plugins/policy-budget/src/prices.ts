/** What a model costs, in millionths of a currency for a million tokens: 2,500,000 is 2.50 for a million. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** For input tokens that the provider had cached; as `input` when absent. */
  readonly cached?: number | undefined;
}

/** By the model's name in the agent, its id, `<provider>/<id>`, or a pattern for these in which `*` is any text. */
export type Prices = Readonly<Record<string, Price>>;

export interface PricedModel {
  readonly model: string;
  readonly provider: string;
  readonly modelId: string;
}

export interface PricedTokens {
  /** All input, what was cached included. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** The exact names first, then the first pattern that fits; `undefined` when the price is unknown. */
export function priceOf(prices: Prices, { model, provider, modelId }: PricedModel): Price | undefined {
  const names = [model, `${provider}/${modelId}`, modelId];
  for (const name of names) if (Object.hasOwn(prices, name)) return prices[name];
  const found = Object.entries(prices).find(([pattern]) => names.some((name) => fits(pattern, name)));
  return found?.[1];
}

/** In whole micros, rounded up. */
export function costOf(price: Price | undefined, { input, cached, output }: PricedTokens): number {
  if (price === undefined) return 0;
  const fresh = Math.max(0, input - cached) * price.input + Math.min(input, cached) * (price.cached ?? price.input);
  return Math.ceil((fresh + output * price.output) / 1_000_000);
}

function fits(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return false;
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let middle = name.slice(first.length, name.length - last.length);
  for (const piece of rest) {
    const at = middle.indexOf(piece);
    if (at < 0) return false;
    middle = middle.slice(at + piece.length);
  }
  return true;
}
