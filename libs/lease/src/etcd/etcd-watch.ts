import { sleep } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { StopWatching } from '../store/lease-store.js';
import { notifyWatcher } from '../store/lease-request.js';
import type { EtcdClient } from './etcd-client.js';
import { fromBase64, toBase64, watchMessage } from './etcd-replies.js';
import type { WatchMessage } from './etcd-replies.js';

export interface KeyWatchOptions {
  readonly client: EtcdClient;
  readonly key: string;
  readonly clock: Clock;
  readonly onValue: (value: string) => void;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Hears of every value that is put under a key, and goes on with another member when a stream breaks, after the last one
 * heard. What was compacted away meanwhile is lost.
 * @throws {EtcdError} when the first stream can't be had
 */
export async function watchKey(options: KeyWatchOptions): Promise<StopWatching> {
  const watch = new KeyWatch(options);
  await watch.open();
  return () => watch.stop();
}

type Messages = AsyncIterable<{ readonly result: WatchMessage }>;

class KeyWatch {
  readonly #options: KeyWatchOptions;
  readonly #stop = new AbortController();
  /** The first revision not heard of yet. */
  #from: bigint | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: KeyWatchOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    this.#running = this.#follow(await this.#connect());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(first: Messages): Promise<void> {
    const { clock } = this.#options;
    let messages: Messages | undefined = first;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#stop.signal.aborted;) {
      try {
        messages ??= await this.#connect();
        pauseMs = FIRST_PAUSE_MS;
        for await (const { result } of messages) this.#hear(result);
      } catch {
        // A hint may get lost; asking again and again is all there is to do.
      }
      messages = undefined;
      await sleep(clock, pauseMs, this.#stop.signal);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
    }
  }

  #connect(): Promise<Messages> {
    const { client, key } = this.#options;
    const stop = this.#stop.signal;
    const start = this.#from === undefined ? {} : { start_revision: `${this.#from}` };
    const body = { create_request: { key: toBase64(key), filters: ['NODELETE'], ...start } };
    return client.ask((member) => member.stream('watch', { body, stop }, watchMessage), stop);
  }

  #hear({ header, created, canceled, events }: WatchMessage): void {
    const next = BigInt(header.revision) + 1n;
    // The revision was compacted, or the cluster lost its data and counts from 1 again: watches from now on.
    const gone = canceled || (this.#from !== undefined && next < this.#from);
    if (gone) this.#from = undefined;
    if (gone) throw new Error('etcd ended this watch.');
    if (created) this.#from ??= next;
    else this.#from = next;
    for (const { kv } of events) this.#notify(fromBase64(kv.value));
  }

  #notify(value: string): void {
    if (!this.#stop.signal.aborted) notifyWatcher(this.#options.onValue, value);
  }
}
