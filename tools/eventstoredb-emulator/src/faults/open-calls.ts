import { OPERATIONS, type Operation } from './fault.js';

export type CallCounts = Readonly<Record<Operation, number>>;

/** How many calls are open, and how many there were. */
export class OpenCalls {
  private readonly openNow = zeros();
  private readonly begun = zeros();

  /** Counts a call until the function that comes back is called for the first time. */
  begin(operation: Operation): () => void {
    this.openNow[operation] += 1;
    this.begun[operation] += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.openNow[operation] -= 1;
      isOpen = false;
    };
  }

  get open(): CallCounts {
    return { ...this.openNow };
  }

  get total(): CallCounts {
    return { ...this.begun };
  }
}

function zeros(): Record<Operation, number> {
  return Object.fromEntries(OPERATIONS.map((operation) => [operation, 0])) as Record<Operation, number>;
}
