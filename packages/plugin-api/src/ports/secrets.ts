/** The secrets that the host registered, for plugins that hand them to others outside of tools. */
export interface Secrets {
  /**
   * A text with what its references `secret://<name>` stand for. Keep the result nowhere and show it to nobody.
   *
   * @param user who needs it, for the error
   *
   * Throws PERDURE_SECRET_UNKNOWN for a name that is not registered.
   */
  resolve(text: string, user: string): string;
  /** A text as it may be kept and shown: references in the place of secrets, and what detectors find taken out. */
  redact(text: string): string;
}
