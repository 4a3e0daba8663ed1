/** `14:02:03`, in UTC like the schedules. */
export function timeOfDay(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** `pulse@14:02:04`: a run as people say it. */
export function runName(cron: string, scheduledAt: number): string {
  return `${cron}@${timeOfDay(scheduledAt)}`;
}

/** The digits of a fence that change: it counts microseconds, so its first half is the same all day. */
export function shortFence(fence: number | null): string {
  return fence === null ? '' : `…${fence.toFixed(0).slice(-6)}`;
}

/** `12 ms`, `3.4 s`. */
export function span(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** `01:23`, `2:00:05`: how long something has been going on. */
export function stopwatch(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const [hours, rest] = [Math.floor(seconds / 3_600), seconds % 3_600];
  return `${hours > 0 ? `${hours}:` : ''}${two(Math.floor(rest / 60))}:${two(rest % 60)}`;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
