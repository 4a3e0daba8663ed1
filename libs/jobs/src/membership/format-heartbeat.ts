import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { HEARTBEAT_MS, quietFor, REPLY_MS, type LowestFormat, type Membership } from './membership.js';

export interface FormatHeartbeatDeps {
  readonly process: string;
  readonly membership: Pick<Membership, 'announce' | 'beat' | 'leave'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The lowest format of the live processes has risen: what needed it can be written. */
  readonly onRisen: () => void;
  /** The catalog has another version. */
  readonly onChanged: () => void;
}

/** Beside processes that don't know of quiet ones, the store is asked for the lowest format once in this many signs of life: a higher one is written a few seconds later. */
const ASKS_EVERY = REPLY_MS / HEARTBEAT_MS;

/** Announces the format of a process that is no scheduler pod every few seconds, for as long as it lives. */
export class FormatHeartbeat {
  #lowest: LowestFormat | null = null;
  #catalogVersion: number | null = null;
  #cancel: CancelTimer = () => {};
  #working: Promise<void> = Promise.resolve();
  #stopped = false;
  #beats = 0;

  constructor(private readonly deps: FormatHeartbeatDeps) {}

  /** The lowest format of the live processes, as last heard; `Infinity` before the first reply. */
  get lowest(): number {
    return this.#lowest?.format ?? Infinity;
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
    const { membership, process, onRisen, onChanged, telemetry } = this.deps;
    const { catalogVersion, ...lowest } = await membership.announce(process, this.#quietMs);
    const [before, version] = [this.#lowest?.format ?? Infinity, this.#catalogVersion];
    [this.#lowest, this.#catalogVersion] = [lowest, catalogVersion];
    if (lowest.format > before) {
      telemetry.emit('format.risen', { format: lowest.format });
      onRisen();
    } else if (version !== null && catalogVersion !== version) onChanged();
  }

  /** Nothing is due of it, whenever it speaks again. */
  get #quietMs(): number {
    return this.#lowest === null ? 0 : quietFor(this.#lowest);
  }

  #beat(): Promise<void> {
    const { membership, process } = this.deps;
    return this.#quietMs > 0 || this.#beats % ASKS_EVERY === 0 ? this.#announce() : membership.beat(process, 'process');
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(HEARTBEAT_MS + this.#quietMs, () => {
      this.#beats += 1;
      this.#working = this.#beat()
        .catch((error: unknown) =>
          reportStoreFailure(this.deps.telemetry, { operation: 'membership.heartbeat' }, error),
        )
        .then(() => this.#arm());
    });
  }
}
