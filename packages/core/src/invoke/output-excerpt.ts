/** The beginning and the end of a text that is too long to be shown, with what is left out between them. */
export function excerptOf(text: string, limit: number, digest: string | undefined): string {
  const head = safeCut(text, Math.floor(limit * 0.75));
  const tail = text.length - (limit - head);
  const where = digest === undefined ? 'The rest is not kept.' : `The whole output is the artifact ${digest}.`;
  const gap = `[… ${tail - head} characters left out. ${where} …]`;
  return `${text.slice(0, head)}\n\n${gap}\n\n${text.slice(safeCut(text, tail))}`;
}

/** Never between the halves of a surrogate pair. */
function safeCut(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
