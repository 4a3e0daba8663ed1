import type { SimProcess } from '../simulation/sim-process.js';
import type { VirtualClock } from '../simulation/virtual-clock.js';
import { ROUND_TRIP_MS } from './costs.js';

/** What a call costs the server. */
export interface Cost {
  readonly us: number;
  readonly commands: number;
}

/** A script holds the server for at most this long: what costs more is several, and others get their turn between them. */
const SCRIPT_US = 5_000;

/** One server that does one thing at a time, in the order in which the requests arrive. */
export class StoreServer {
  #busyUntil = 0;
  busyUs = 0;
  commands = 0;

  constructor(private readonly clock: VirtualClock) {}

  /** @param done when the reply has arrived */
  serve({ us, commands }: Cost, done: () => void): void {
    const now = this.clock.monotonic();
    const part = Math.min(us, SCRIPT_US);
    this.busyUs += part;
    this.commands += commands * (us === 0 ? 1 : part / us);
    this.#busyUntil = Math.max(this.#busyUntil, now + ROUND_TRIP_MS / 2) + part / 1_000;
    this.clock.after(this.#busyUntil + ROUND_TRIP_MS / 2 - now, () => {
      if (us <= SCRIPT_US) return done();
      const rest = us - SCRIPT_US;
      this.serve({ us: rest, commands: (commands * rest) / us }, done);
    });
  }

  /** How long a request that arrives now waits, milliseconds. */
  get queueMs(): number {
    return Math.max(0, this.#busyUntil - this.clock.monotonic());
  }
}

type CostOf = (method: string, args: readonly unknown[]) => Cost;
export interface Caller {
  readonly process: SimProcess;
  readonly server: StoreServer;
  readonly costOf: CostOf;
}

type Method = (...args: unknown[]) => Promise<unknown>;

/**
 * A port of one process that costs what it costs on a server, and time. What watches costs nothing. A dead process hears no
 * reply; what it has sent is done all the same.
 */
export function costed<T extends object>(target: T, caller: Caller): T {
  const { process, server, costOf } = caller;
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object);
      // The sessions of a lease store are a part of it.
      if (typeof value === 'object' && value !== null) return costed(value, caller);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      if (name.startsWith('watch')) return value.bind(object) as unknown;
      return async (...args: unknown[]) => {
        if (!process.runs) await process.pass();
        await new Promise<void>((resolve) => server.serve(costOf(name, args), resolve));
        const reply = await (value as Method).apply(object, args);
        if (!process.runs) await process.pass();
        return reply;
      };
    },
  });
}
