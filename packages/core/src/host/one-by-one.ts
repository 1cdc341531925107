/** Runs work of the same name one after the other, in the order of the calls. */
export class OneByOne {
  private readonly last = new Map<string, Promise<unknown>>();

  after<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(name) ?? Promise.resolve();
    const result = before.then(work, work);
    this.last.set(name, result);
    const forget = (): void => {
      if (this.last.get(name) === result) this.last.delete(name);
    };
    result.then(forget, forget);
    return result;
  }
}
