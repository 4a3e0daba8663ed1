import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the event loop is; an end belongs to it. */
export interface LoopLag {
  /** 99 of 100 times since the last call by no more than this, milliseconds. */
  take(): number;
  stop(): void;
}

/** Between two looks of the monitor, milliseconds: short enough to see a block, and no work to speak of. */
const RESOLUTION_MS = 20;
const NANOS = 1e6;

/** Costs a timer of libuv that keeps no process alive. */
export function watchLoopLag(): LoopLag {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    take: () => {
      // What it measures is from one look to the next, the time it meant to wait included.
      const lag = histogram.count === 0 ? 0 : histogram.percentile(99) / NANOS - RESOLUTION_MS;
      histogram.reset();
      return Math.max(0, lag);
    },
    stop: () => void histogram.disable(),
  };
}
