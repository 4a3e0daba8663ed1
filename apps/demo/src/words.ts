/** `14:02:03`, in UTC like the schedules. */
export function timeOfDay(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** `pulse@14:02:04` */
export function runName({ cron, scheduledAt }: { readonly cron: string; readonly scheduledAt: number }): string {
  return `${cron}@${timeOfDay(scheduledAt)}`;
}

/** The digits of a fence that change: it counts microseconds, so its first half is the same all day. */
export function shortFence(fence: number): string {
  return `…${fence.toFixed(0).slice(-6)}`;
}

/** `12 ms`, `3.4 s` */
export function span(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** The label of a holder or worker `<label>/<uuid>`: the name of its pod. */
export function podOf(holder: string | null): string {
  return holder?.slice(0, Math.max(0, holder.lastIndexOf('/'))) ?? '';
}
