/** Where the whole of a text is kept, and the tool that reads more of it where there is one. */
export interface KeptWhole {
  readonly digest: string;
  readonly reader: string | undefined;
}

/** The beginning and the end of a text that is too long to be shown, with what is left out between them. */
export function excerptOf(text: string, limit: number, kept: KeptWhole | undefined): string {
  const head = safeCut(text, Math.floor(limit * 0.75));
  const tail = safeCut(text, text.length - (limit - head));
  const shown = `the first ${head} and the last ${text.length - tail} of ${text.length} are shown`;
  const gap = `[… ${tail - head} characters left out: ${shown}. ${whereOf(kept)} …]`;
  return `${text.slice(0, head)}\n\n${gap}\n\n${text.slice(tail)}`;
}

function whereOf(kept: KeptWhole | undefined): string {
  if (kept === undefined) return 'The rest is not kept.';
  const whole = `The whole is the artifact ${kept.digest}`;
  return kept.reader === undefined ? `${whole}.` : `${whole}; read more of it with ${kept.reader}.`;
}

/** Never between the halves of a surrogate pair. */
export function safeCut(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
