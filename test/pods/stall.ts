import { channel } from 'node:diagnostics_channel';

/** Where a pod's event loop stands still for a while, again and again. Given to it as a JSON list in `STALLS`. */
export interface Stall {
  /** Name of a telemetry event, such as `occurrence.claiming`. */
  readonly event: string;
  /** At each so manyth of these events. */
  readonly every: number;
  /** Milliseconds. */
  readonly forMs: number;
  /** What the event has to carry, such as `{ cron: 'tick' }`. */
  readonly where?: Readonly<Record<string, string | number>>;
}

const stalled = channel('fencepost:stalled');
let calm = false;

function arm({ event, every, forMs, where = {} }: Stall): void {
  let seen = 0;
  channel(`fencepost:${event}`).subscribe((detail) => {
    const carries = Object.entries(where).every(([key, value]) => Reflect.get(Object(detail), key) === value);
    if (!carries) return;
    seen += 1;
    if (calm || seen % every !== 0) return;
    stalled.publish({ at: event, forMs });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
  });
}

export function armStalls(wanted: string | undefined): void {
  // Told by the nemesis, when all is to be healed.
  channel('nemesis:calm').subscribe(() => void (calm = true));
  if (wanted) for (const stall of JSON.parse(wanted) as Stall[]) arm(stall);
}
