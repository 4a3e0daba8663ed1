import { RedisFencedRows } from '@fencepost/lease/sinks';
import { Redis } from 'ioredis';
import type { SinkEntry } from './counting.js';

/** What came to the sink, seen from outside of everything that is tortured. */
export interface Sink {
  readonly log: () => Promise<SinkEntry[]>;
  /** Who has begun last, when nothing was written since. */
  readonly atWork: () => Promise<AtWork | null>;
  /** How many writes the sink has refused; `null` where it refuses none. */
  readonly refused: () => Promise<number | null>;
  readonly close: () => void;
}

export interface AtWork {
  /** The name of the process. */
  readonly by: string;
  /** Names the try. */
  readonly execution: string;
}

/** Where the processes write, as they are told by `SINK_REDIS_URL` and `SINK_LOG`. */
export interface SinkAddress {
  readonly url: string;
  readonly log: string;
}

/** A list that takes everything, as most of what an application writes to does. */
export function plainSink({ url, log }: SinkAddress): Sink {
  const redis = new Redis(url);
  const read = async (from: number) => (await redis.lrange(log, from, -1)).map((line) => JSON.parse(line) as Line);
  return {
    log: () => read(0),
    atWork: async () => {
      const [last] = await read(-1);
      return last?.kind === 'begun' ? last : null;
    },
    refused: async () => null,
    close: () => redis.disconnect(),
  };
}

type Line = SinkEntry & AtWork;

/** A table that looks at fences and keys. Its journal has what it accepted; the row says who was there last. */
export function fencedSink({ url, log }: SinkAddress): Sink {
  const redis = new Redis(url);
  const rows = new RedisFencedRows({ redis, prefix: log, tenant: 'torture', table: 'reports' });
  return {
    log: async () => (await rows.journal()).map(({ idempotencyKey, fence }) => entryOf(idempotencyKey, `${fence}`)),
    atWork: async () => {
      const [, by, execution] = /^begun (\S+) (\S+)$/.exec((await rows.read('report')) ?? '') ?? [];
      return by && execution ? { by, execution } : null;
    },
    refused: async () => {
      const { stale, repeated } = await rows.turnedDown();
      return stale + repeated;
    },
    close: () => redis.disconnect(),
  };
}

/** A fence belongs to one attempt alone. */
function entryOf(key: string, fence: string): SinkEntry {
  const [, instant, what = ''] = /^report@(\d+)\/(.+)$/.exec(key) ?? [];
  return { kind: what.startsWith('attempt-') ? 'begun' : 'written', execution: fence, instant: Number(instant) };
}
