/**
 * How many callers of this process wait for turns to end. As long as there are any the process stays, though their
 * sessions may have left memory and hold nothing that would keep it.
 */
export class WaitCount {
  private count = 0;
  private timer: NodeJS.Timeout | undefined;

  add(difference: number): void {
    this.count += difference;
    if (this.count > 0) {
      this.timer ??= setInterval(() => undefined, 3_600_000);
      return;
    }
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
