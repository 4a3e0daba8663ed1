import { sleep } from '../base/clock.js';
import type { StopWatching } from '../store/lease-store.js';
import type { ConsulClient } from './consul-client.js';
import { pairs } from './consul-operations.js';
import type { StoredKey } from './consul-operations.js';

interface WatchOptions {
  readonly client: ConsulClient;
  /** Below this. */
  readonly prefix: string;
  /** Hears of each key that was set. */
  readonly onSet: (key: string) => void;
}

const WAIT_S = 60;
/** Consul adds up to a sixteenth. */
const MAX_WAIT_MS = (WAIT_S + WAIT_S / 16) * 1_000;
const NOT_FOUND = 404;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Watches by blocking queries, https://developer.hashicorp.com/consul/api-docs/features/blocking. A key that is set and
 * removed between two of them is not heard of.
 * @throws {ConsulError} when the first query fails
 */
export async function watchKeys(options: WatchOptions): Promise<StopWatching> {
  const watch = new KeysWatch(options);
  await watch.look();
  const running = watch.follow();
  return async () => {
    watch.stop();
    await running;
  };
}

class KeysWatch {
  readonly #options: WatchOptions;
  readonly #stop = new AbortController();
  /** When each key was set last, as far as it is known; nothing is known before the first look. */
  #known: ReadonlyMap<string, number> | undefined;
  #index = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stop.abort();
  }

  async look(): Promise<void> {
    const { client, prefix } = this.#options;
    const block = this.#index > 0 ? `&index=${this.#index}&wait=${WAIT_S}s` : '';
    const { index, body } = await client.block(
      { method: 'GET', path: `kv/${prefix}?recurse${block}`, answers: [NOT_FOUND] },
      { reply: pairs, waitMs: MAX_WAIT_MS, stop: this.#stop.signal },
    );
    // An index that goes back would be waited for in vain; 0 would not wait at all.
    this.#index = index < this.#index ? 0 : Math.max(1, index);
    this.#compare(body);
  }

  async follow(): Promise<void> {
    const { clock } = this.#options.client.settings;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#stop.signal.aborted;) {
      try {
        await this.look();
        pauseMs = FIRST_PAUSE_MS;
      } catch {
        // A hint may get lost; asking again and again is all there is to do.
        await sleep(clock, pauseMs, this.#stop.signal);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  #compare(found: readonly StoredKey[]): void {
    const before = this.#known;
    this.#known = new Map(found.map(({ key, modifiedAt }) => [key, modifiedAt]));
    const changed = before ? found.filter(({ key, modifiedAt }) => before.get(key) !== modifiedAt) : [];
    for (const { key } of changed) if (!this.#stop.signal.aborted) this.#options.onSet(key);
  }
}
