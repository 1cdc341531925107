/**
 * Tells at once whether a node on this machine lives, by something the system releases when its process dies. Only an
 * embedded store can offer it. A node that is not seen here may still live elsewhere: then its lease decides.
 */
export interface NodePresence {
  /** Holds the mark of this node until the function that it returns is called or the process ends. */
  announce(node: string): Promise<() => Promise<void>>;

  /**
   * `true` while the mark is held, `false` when nobody holds it, `undefined` when no mark of that node is known here.
   */
  isPresent(node: string): Promise<boolean | undefined>;
}
