import type { ModelFlags } from '../config/model-endpoint.js';
import { withoutSecrets } from '../config/store-server.js';
import type { PlaceFlags, RuleFlags } from '../config/settings.js';
import { shellQuote } from './shell-quote.js';

/** Commands that go on with a session under the same settings. Its workspace is the session's own. */
export interface NextCommands {
  /** Goes on with a turn that did not end. */
  readonly resume: string;
  /** Takes another prompt. */
  readonly next: string;
  /** Lets a call pass that waits; the id of the call goes behind it. */
  readonly approve: string;
  /** Answers questions; the id of the call goes behind it. */
  readonly answer: string;
}

export function nextCommands(session: string, flags: PlaceFlags & RuleFlags & ModelFlags): NextCommands {
  const options: (readonly [string, string | undefined])[] = [
    ['--config', flags.config],
    ['--store', flags.store && withoutSecrets(flags.store)],
    ['--base-url', flags.baseUrl],
    ['--model-id', flags.modelId],
    ['--api-key-env', flags.apiKeyEnv],
    ...(flags.allow ?? []).map((rule) => ['--allow', rule] as const),
    ...(flags.deny ?? []).map((rule) => ['--deny', rule] as const),
    ['--shell', flags.shell],
    ['--approvals', flags.approvals],
  ];
  const wordsOf = (some: typeof options): readonly string[] =>
    some.flatMap(([name, value]) => (value === undefined ? [] : [name, shellQuote(value)]));
  const words = wordsOf(options);
  const id = shellQuote(session);
  return {
    resume: ['perdure resume', id, ...words].join(' '),
    next: ['perdure run "…" --session', id, ...words].join(' '),
    approve: ['perdure approve', id, ...wordsOf(options.slice(0, 2))].join(' '),
    answer: ['perdure answer', id, ...wordsOf(options.slice(0, 2))].join(' '),
  };
}
