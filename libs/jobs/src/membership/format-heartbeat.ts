import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { HEARTBEAT_MS, REPLY_MS, type Membership } from './membership.js';

export interface FormatHeartbeatDeps {
  readonly process: string;
  readonly membership: Pick<Membership, 'announce' | 'beat' | 'leave'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The lowest format of the live processes has risen: what needed it can be written. */
  readonly onRisen: () => void;
  /** No other process is heard any more, or one is heard again. */
  readonly onAlone: (isAlone: boolean) => void;
}

/** The store is asked for the lowest format once in this many signs of life: a higher one is written a few seconds later. */
const ASKS_EVERY = REPLY_MS / HEARTBEAT_MS;

/** Announces the format of a process that is no scheduler pod once a second, for as long as it lives. */
export class FormatHeartbeat {
  #lowest = Infinity;
  #catalogVersion: number | null = null;
  #isAlone = false;
  #cancel: CancelTimer = () => {};
  #working: Promise<void> = Promise.resolve();
  #stopped = false;
  #beats = 0;

  constructor(private readonly deps: FormatHeartbeatDeps) {}

  /** The lowest format of the live processes, as last heard; `Infinity` before the first reply. */
  get lowest(): number {
    return this.#lowest;
  }

  /** The version of the catalog, as last heard; `null` where it is not known. */
  get catalogVersion(): number | null {
    return this.#catalogVersion;
  }

  /** @throws {FormatBehindError} when the deployment has written a format that this process can't read */
  async start(): Promise<void> {
    await this.#announce();
    this.#arm();
  }

  /** An announcement that arrived after the leave would bring the process back. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancel();
    await this.#working;
    const { membership, process, telemetry } = this.deps;
    await membership.leave(process).catch((error: unknown) => {
      reportStoreFailure(telemetry, { operation: 'membership.leave' }, error);
    });
  }

  async #announce(): Promise<void> {
    const { membership, process, onRisen, onAlone, telemetry } = this.deps;
    const { format, catalogVersion, isAlone } = await membership.announce(process);
    this.#catalogVersion = catalogVersion;
    if (isAlone !== this.#isAlone) onAlone((this.#isAlone = isAlone));
    const before = this.#lowest;
    this.#lowest = format;
    if (format <= before) return;
    telemetry.emit('format.risen', { format });
    onRisen();
  }

  #beat(): Promise<void> {
    const { membership, process } = this.deps;
    return this.#beats % ASKS_EVERY === 0 ? this.#announce() : membership.beat(process, 'process');
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(HEARTBEAT_MS, () => {
      this.#beats += 1;
      this.#working = this.#beat()
        .catch((error: unknown) =>
          reportStoreFailure(this.deps.telemetry, { operation: 'membership.heartbeat' }, error),
        )
        .then(() => this.#arm());
    });
  }
}
