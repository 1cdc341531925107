import { errorTable, type ErrorEntry, type ErrorKind } from '@perdure/plugin-api';

export const ERROR_PAGE = 'packages/plugin-api/docs/errors.md';

const KINDS: Readonly<Record<ErrorKind, string>> = {
  caller: 'the caller must change something',
  refused: 'it was refused; nobody has to act',
  conflict: 'someone else was faster, or it is so already',
  unavailable: 'the operator, a provider or time must help',
  bug: 'report it',
};

/** The page of all error codes, made from the table. */
export function errorPage(): string {
  const kinds = Object.entries(KINDS).map(([kind, meaning]) => `| \`${kind}\` | ${meaning} |`);
  const rows = Object.entries(errorTable).map(([code, entry]) => row(code, entry));
  return [
    '# Errors',
    '',
    'Perdure throws `PerdureError { code, data, cause }` and writes the same codes into facts and outcomes. Test them',
    "with `isPerdureError(error, 'PERDURE_STORE_CONTENDED')`, never by class or message; `data` holds the words in",
    'braces. This page is made from the error table by `npm run pins`.',
    '',
    '| kind | who must act |',
    '|---|---|',
    ...kinds,
    '',
    '| code | kind | same call may succeed later | HTTP | message |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function row(code: string, { kind, retryable, status, message }: ErrorEntry): string {
  return `| \`${code}\` | ${kind} | ${retryable ? 'yes' : 'no'} | ${status} | ${message.replaceAll('|', '\\|')} |`;
}
