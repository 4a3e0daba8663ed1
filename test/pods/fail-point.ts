import { channel } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';

/** Where a pod stops, and how. Given to it as JSON in `FAIL_POINT`, with this file loaded by `node --import`. */
export interface FailPoint {
  /** Name of a telemetry event, such as `run.enqueued`. */
  readonly event: string;
  /** `kill` is SIGKILL; `freeze` is SIGSTOP, until somebody sends SIGCONT; `block` is an event loop that stands still. */
  readonly action: 'kill' | 'freeze' | 'block';
  /** With `block`, for how long. */
  readonly forMs?: number;
  /** At which of the events that match; default the first. */
  readonly nth?: number;
  /** What the event has to carry, such as `{ cron: 'tick' }`. */
  readonly where?: Readonly<Record<string, string | number>>;
}

const SIGNAL = { kill: 'SIGKILL', freeze: 'SIGSTOP' } as const;

/** A stop signal arrives a moment after it was sent; the process does nothing meanwhile, so that it stops exactly here. */
const ARRIVES_WITHIN_MS = 200;

function arm({ event, action, forMs = 0, nth = 1, where = {} }: FailPoint): void {
  let seen = 0;
  channel(`fencepost:${event}`).subscribe((detail) => {
    const carries = Object.entries(where).every(([key, value]) => Reflect.get(Object(detail), key) === value);
    if (!carries) return;
    seen += 1;
    if (seen !== nth) return;
    // Synchronously, past the logger: whoever waits for this line finds the process stopped.
    writeSync(1, `${JSON.stringify({ event: 'fail_point', at: event, action })}\n`);
    if (action !== 'block') process.kill(process.pid, SIGNAL[action]);
    standStill(action === 'block' ? forMs : ARRIVES_WITHIN_MS);
  });
}

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const wanted = process.env['FAIL_POINT'];
if (wanted) arm(JSON.parse(wanted) as FailPoint);
