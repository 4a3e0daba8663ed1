import { DueSlices } from '@fencepost/jobs/internal/scheduling';
import type { VirtualClock } from '../simulation/virtual-clock.js';
import type { Costs } from './costs.js';
import type { StoreServer } from './store-server.js';

export interface DayPodDeps {
  readonly clock: VirtualClock;
  readonly server: StoreServer;
  readonly costs: Costs;
  /** These crons, due at these times, have been enqueued now. */
  readonly onEnqueued: (crons: readonly string[], dues: readonly number[]) => void;
}

/** What a pod does with crons that are due: slice by slice, each claimed, enqueued and confirmed. */
export class DayPod {
  readonly #slices = new DueSlices();
  readonly #dues = new Map<string, number>();
  #armedFor = Infinity;
  #cancel = () => {};
  #busyUntil = 0;

  constructor(private readonly deps: DayPodDeps) {}

  get waiting(): number {
    return this.#dues.size;
  }

  /** @param readyAt when this pod has the cron; later than `dueAt` after a hand-over */
  due(cron: string, dueAt: number, readyAt = dueAt): void {
    this.#dues.set(cron, dueAt);
    this.#slices.index.set(cron, dueAt);
    this.#arm(readyAt);
  }

  /** @returns when the cron was due, for the pod that takes it; `undefined` for none that waits */
  takeBack(cron: string): number | undefined {
    if (this.#slices.index.dueAt(cron) === null) return undefined;
    this.#slices.index.remove(cron);
    const dueAt = this.#dues.get(cron);
    this.#dues.delete(cron);
    return dueAt;
  }

  #arm(from = 0): void {
    const at = Math.max(this.#slices.nextAt() ?? Infinity, from);
    const { clock } = this.deps;
    if (at === Infinity || (at >= this.#armedFor && this.#armedFor >= clock.monotonic())) return;
    this.#cancel();
    this.#armedFor = at;
    this.#cancel = clock.after(at - clock.monotonic(), () => this.#fire());
  }

  #fire(): void {
    this.#armedFor = Infinity;
    const { clock, costs, server, onEnqueued } = this.deps;
    const now = clock.monotonic();
    const slice = this.#slices.take(now);
    if (!slice) return;
    const count = slice.crons.length;
    const commands = (count * costs.instantCommands) / 3;
    const call = (us: number, then: () => void) => server.serve({ us: count * us, commands }, then);
    this.#busyUntil = Math.max(this.#busyUntil, now) + (count * costs.podUsPerInstant) / 1_000;
    clock.after(this.#busyUntil - now, () =>
      call(costs.claimUs, () =>
        call(costs.enqueueUs, () => {
          onEnqueued(
            slice.crons,
            slice.crons.map((cron) => this.#dues.get(cron) ?? NaN),
          );
          for (const cron of slice.crons) this.#dues.delete(cron);
          call(costs.confirmUs + costs.publishUs, () => {
            this.#slices.end(slice);
            this.#arm();
          });
        }),
      ),
    );
    this.#arm();
  }
}
