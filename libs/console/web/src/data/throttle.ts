/** Events come in bursts, and the last of one counts. */
const BURST_MS = 250;

export interface Throttled {
  readonly call: () => void;
  readonly cancel: () => void;
}

/** Does the work soon after a call, and at most once in `ms` milliseconds; never misses the last call. */
export function throttle(work: () => void, ms: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  const fire = () => {
    timer = undefined;
    last = performance.now();
    work();
  };
  return {
    call: () => {
      timer ??= setTimeout(fire, Math.max(BURST_MS, last + ms - performance.now()));
    },
    cancel: () => clearTimeout(timer),
  };
}
