/** That everything which a session holds is to be gone. */
export interface ErasureRequest {
  readonly cascade: boolean;
  readonly reason?: string;
  /** The place of the request, and when it came, in epoch milliseconds. */
  readonly revision: number;
  readonly at: number;
}
