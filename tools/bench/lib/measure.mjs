import { readFileSync } from 'node:fs';

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** Bytes that this process has handed to write() so far. */
export function bytesWritten() {
  return Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
}

/**
 * Event-loop lag as a request that arrives at a random moment sees it: a gap counts as the shorter waits inside it too.
 */
export function watchLag(tickMs = 5) {
  const lags = [];
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    for (let gap = now - last - tickMs; ; gap -= tickMs) {
      lags.push(Math.max(0, gap));
      if (gap <= tickMs) break;
    }
    last = now;
  };
  const timer = setInterval(look, tickMs);
  return () => {
    clearInterval(timer);
    look();
    return lags;
  };
}
