import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** What a replica of a peer is told by whoever tortures it. */
export interface Told {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly prefix: string;
  /** Six fields, UTC; each instant is a multiple of the cadence. */
  readonly expression: string;
  readonly cadenceMs: number;
  /** One for every peer: of a lock, of a run lease, of whatever says that somebody is still at it. */
  readonly lockMs: number;
}

export function told(env: NodeJS.ProcessEnv = process.env): Told {
  return {
    redisUrl: env['REDIS_URL'] ?? '',
    databaseUrl: env['DATABASE_URL'] ?? '',
    prefix: env['PEER_PREFIX'] ?? '',
    expression: env['PEER_EXPRESSION'] ?? '',
    cadenceMs: Number(env['PEER_CADENCE_MS']),
    lockMs: Number(env['PEER_LOCK_MS']),
  };
}

/** How long the work takes between looking at the world and changing it. */
export const WORK_MS = Number(process.env['PEER_WORK_MS']);

const CHECKED = () => {};

/**
 * The work that every peer has to do for each instant: look, think for a while, write. It goes to a server of its own, which
 * keeps everything in the order of its arrival and refuses nobody.
 */
export class Report {
  readonly #sink = new Redis(process.env['SINK_REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
  readonly #log = process.env['SINK_LOG'] ?? '';
  readonly #by = process.env['POD_NAME'] ?? '';

  /**
   * @param instant epoch milliseconds, or whatever the peer calls the occasion
   * @param check asked right before the write; throws when the peer knows by then that it may not any more
   */
  async make(instant: number | string, check: () => void = CHECKED): Promise<void> {
    const about = { execution: randomUUID(), instant, by: this.#by };
    await this.#append({ kind: 'begun', ...about });
    await wait(WORK_MS);
    check();
    await this.#append({ kind: 'written', ...about });
  }

  close(): void {
    this.#sink.disconnect();
  }

  async #append(entry: object): Promise<void> {
    await this.#sink.rpush(this.#log, JSON.stringify(entry));
  }
}

/** The instant a timer stands for: the nearest one, for it may fire a moment early or late. */
export function nearestInstant(now: number, cadenceMs: number): number {
  return Math.round(now / cadenceMs) * cadenceMs;
}

export function say(line: object): void {
  console.log(JSON.stringify(line));
}
