import { channel } from 'node:diagnostics_channel';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/*
 * What a process does to itself when it is told, loaded by `node --import`: the nemesis writes an order into the file of
 * NEMESIS_ORDERS, and sends SIGWINCH: a program that has never heard of it ignores it, and Nest ends at almost any other.
 */
type Order =
  | { readonly do: 'block'; readonly forMs: number }
  | { readonly do: 'set-clock'; readonly aheadMs: number }
  | { readonly do: 'calm' }
  | { readonly do: 'arm'; readonly point: Point | null };

interface Point {
  /** Name of a telemetry event, such as `effect.acted`. */
  readonly event: string;
  readonly action: 'kill' | 'freeze';
  /** Only where the event is about one of these effects. */
  readonly effects?: readonly string[];
}

/** A stop signal arrives a moment after it was sent; the process does nothing meanwhile, so that it stops exactly here. */
const ARRIVES_WITHIN_MS = 200;

const MachineDate = Date;
let aheadMs = 0;
let armed: { readonly point: Point; readonly meet: (detail: unknown) => void } | undefined;

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** In place of the global one only while it has to be wrong: most of the time the process is as it always is. */
class SteppedDate extends MachineDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(SteppedDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return MachineDate.now() + aheadMs;
  }
}

function disarm(): void {
  if (armed) channel(`fencepost:${armed.point.event}`).unsubscribe(armed.meet);
  armed = undefined;
}

function arm(point: Point | null, hits: string): void {
  disarm();
  if (!point) return writeFileSync(`${hits}.off`, '');
  const meet = (detail: unknown) => {
    const effect: unknown = Reflect.get(Object(detail), 'effect');
    if (point.effects && !point.effects.includes(String(effect))) return;
    disarm();
    writeFileSync(hits, JSON.stringify(detail));
    process.kill(process.pid, point.action === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    standStill(ARRIVES_WITHIN_MS);
  };
  armed = { point, meet };
  channel(`fencepost:${point.event}`).subscribe(meet);
}

function obey(order: Order, file: string): void {
  if (order.do === 'block') standStill(order.forMs);
  if (order.do === 'calm') channel('nemesis:calm').publish({});
  if (order.do === 'arm') arm(order.point, `${file}.hit`);
  if (order.do === 'set-clock') {
    ({ aheadMs } = order);
    globalThis.Date = aheadMs === 0 ? MachineDate : (SteppedDate as DateConstructor);
  }
}

const orders = process.env['NEMESIS_ORDERS'];
if (orders) {
  process.on('SIGWINCH', () => {
    if (existsSync(orders)) obey(JSON.parse(readFileSync(orders, 'utf8')) as Order, orders);
  });
}
