/**
 * Why a request has no answer: it never reached the server; it did, or may have, and the answer is lost; nothing came
 * in time; or the server refused it.
 */
export type Breakage = 'not-sent' | 'lost' | 'timed-out' | 'refused';

/** A request without a result. The message is from outside: it is cleaned and redacted before anybody sees it. */
export class CallBroken extends Error {
  override readonly name = 'CallBroken';

  constructor(
    readonly breakage: Breakage,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Nothing of the message reached the server. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}
