const tails = new Map<string, Promise<unknown>>();

/**
 * Runs work on one file after all earlier work on it in this process, so that parallel calls do not lose each other's
 * changes. It is one queue for the process because agents can share a workspace.
 *
 * @param file absolute path
 */
export async function inOrder<T>(file: string, work: () => Promise<T>): Promise<T> {
  const earlier = tails.get(file) ?? Promise.resolve();
  const result = earlier.then(work);
  const tail = result.catch(() => undefined);
  tails.set(file, tail);
  try {
    return await result;
  } finally {
    if (tails.get(file) === tail) tails.delete(file);
  }
}
