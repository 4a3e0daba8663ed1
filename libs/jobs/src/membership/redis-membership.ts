import { systemClock, type Clock } from '@fencepost/lease';
import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { FORMAT } from '@fencepost/ledger/format';
import { FormerProcesses } from './redis-former-processes.js';
import { HeardProcesses } from './heard-processes.js';
import {
  FormatBehindError,
  MAX_OVERDUE,
  MEMBER_GONE_MS,
  OVERDUE_MS,
  type HeartbeatReply,
  type LiveProcess,
  type LowestFormat,
  type Member,
  type Membership,
  type OverdueCron,
  type ProcessKind,
} from './membership.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['raise-format']);

/** One command for a hundred thousand crons would block the server for other clients. */
const MAX_BATCH = 1_000;

/** Entries of the stream, about: three seconds of three thousand processes. */
const MAX_ENTRIES = 10_000;

/** The last heartbeat of a pod is searched for among this many entries: other processes announce themselves too. */
const MAX_SEARCHED = 1_000;

export interface RedisMembershipOptions extends KeySpace {
  /** The caller closes it. */
  readonly redis: RedisClient;
  /** Default {@link FORMAT}. */
  readonly format?: number;
  readonly clock?: Clock;
}

type Keys = Readonly<Record<'heartbeats' | 'due' | 'version' | 'format', string>>;
type Entry = readonly [id: string, fields: readonly string[]];

/**
 * Membership beside the catalog. A sign of life is one entry of a stream, whose id is the server's clock: one plain command for
 * each process and second, and a reader fetches only what came since its last look. A script that did all of it for each
 * heartbeat cost the server five times as many commands.
 */
export class RedisMembership implements Membership {
  readonly #redis: RedisClient;
  readonly #keys: Keys;
  readonly #format: number;
  readonly #clock: Clock;
  readonly #heard = new HeardProcesses();
  readonly #former: FormerProcesses;
  /** The last entry read; `null` before the first reading. */
  #lastId: string | null = null;
  /** The server's clock at the last reading, and the own monotonic one then. */
  #known = { now: 0, at: 0 };

  constructor(options: RedisMembershipOptions) {
    const { redis, format = FORMAT, clock = systemClock } = options;
    this.#redis = redis;
    this.#format = format;
    this.#clock = clock;
    const key = (part: string) => redisKeys(options)('catalog', part);
    this.#keys = { heartbeats: key('heartbeats'), due: key('due'), version: key('version'), format: key('format') };
    this.#former = new FormerProcesses({ redis, clock, key, heard: this.#heard });
  }

  async heartbeat(pod: string, weight = 1): Promise<HeartbeatReply> {
    await this.#begin();
    const added = this.#add(pod, 'pod', weight);
    const read = Promise.all([added, this.#entries(), this.#redis.mget(this.#keys.version, this.#keys.format)]);
    const [[id, entries, [version, written]], head] = await Promise.all([read, this.#firstDue()]);
    const now = await this.#clockAt(id);
    await this.#apply(entries, id, now);
    const lowest = await this.#agree(Number(written ?? 0), now);
    const isOverdue = head !== null && head <= now - OVERDUE_MS;
    return {
      now,
      catalogVersion: Number(version ?? 0),
      members: this.#heard.members(now),
      overdue: isOverdue ? await this.#overdue(now) : [],
      lowest,
    };
  }

  async beat(process: string, kind: ProcessKind, weight = 1): Promise<void> {
    await this.#add(process, kind, weight);
  }

  async members(): Promise<readonly Member[]> {
    if (this.#lastId === null) return [];
    const now = this.#known.now + Math.floor(this.#clock.monotonic() - this.#known.at);
    this.#note(await this.#entries(), now);
    return this.#heard.members(now);
  }

  async announce(process: string): Promise<LowestFormat> {
    await this.#begin();
    await this.#add(process, 'process');
    return this.lowestFormat();
  }

  async lowestFormat(): Promise<LowestFormat> {
    await this.#begin();
    const [now, entries, written] = await Promise.all([this.#time(), this.#entries(), this.#written()]);
    await this.#apply(entries, null, now);
    return this.#agree(written, now);
  }

  async processes(): Promise<readonly LiveProcess[]> {
    await this.#begin();
    const [now, entries] = await Promise.all([this.#time(), this.#entries()]);
    await this.#apply(entries, null, now);
    return this.#heard.processes(now);
  }

  async leave(process: string): Promise<void> {
    await Promise.all([this.#redis.xadd(this.#keys.heartbeats, '*', 'left', process), this.#former.leave(process)]);
  }

  async publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
    const all = [...dues];
    const gone = all.flatMap(([cron, due]) => (due === null ? [cron] : []));
    const noted = all.flatMap(([cron, due]) => (due === null ? [] : [[due, cron] as const]));
    await Promise.all([
      ...inParts(gone).map((part) => this.#redis.zrem(this.#keys.due, ...part)),
      ...inParts(noted).map((part) => this.#redis.zadd(this.#keys.due, ...part.flat())),
    ]);
  }

  async lastHeard(): Promise<number | null> {
    const entries = await this.#redis.xrevrange(this.#keys.heartbeats, '+', '-', 'COUNT', MAX_SEARCHED);
    const last = entries.find(([, fields]) => fields[0] === 'pod');
    return last === undefined ? null : timeOf(last[0]);
  }

  /** A process that is behind is refused before it counts for the others. */
  async #begin(): Promise<void> {
    if (this.#lastId !== null) return;
    const [now, written] = await Promise.all([this.#time(), this.#written()]);
    this.#refuseBehind(written);
    this.#lastId = `${now - MEMBER_GONE_MS}-0`;
  }

  async #add(process: string, kind: ProcessKind, weight = 1): Promise<string> {
    const { heartbeats } = this.#keys;
    const entry = [kind, process, 'format', this.#format, ...(weight === 1 ? [] : ['weight', weight])];
    return (await this.#redis.xadd(heartbeats, 'MAXLEN', '~', MAX_ENTRIES, '*', ...entry)) ?? '';
  }

  /** Sent after an entry of one's own on the same connection, it brings that one too. */
  #entries(): Promise<Entry[]> {
    return this.#redis.xrange(this.#keys.heartbeats, `(${this.#lastId}`, '+');
  }

  async #apply(entries: readonly Entry[], ownId: string | null, now: number): Promise<void> {
    if (ownId !== null && isBefore(ownId, this.#lastId ?? '')) {
      // The stream was lost, and has begun again with a clock that is behind: everything in it is new.
      this.#heard.clear();
      this.#lastId = '0-0';
      entries = await this.#entries();
    }
    this.#known = { now, at: this.#clock.monotonic() };
    this.#note(entries, now);
    await this.#former.look(now);
  }

  #note(entries: readonly Entry[], now: number): void {
    for (const [id, [kind, process = '', , format, , weight = 1]] of entries) {
      this.#lastId = id;
      if (kind === 'left') this.#heard.leave(process);
      else if (kind === 'pod' || kind === 'process') {
        this.#heard.note(process, { kind, format: Number(format), weight: Number(weight), at: timeOf(id) }, now);
      }
    }
  }

  /**
   * A higher format is written down first and used after another reading: a process that came meanwhile either is in that
   * reading, or finds what was written down and is refused.
   */
  async #agree(written: number, now: number): Promise<LowestFormat> {
    this.#refuseBehind(written);
    const lowest = this.#heard.lowest(now);
    if (lowest === null) return { process: null, format: this.#format };
    if (lowest.format <= written) return lowest;
    await SCRIPTS['raise-format'].run(this.#redis, [this.#keys.format], [lowest.format]);
    this.#note(await this.#entries(), now);
    return this.#heard.lowest(now) ?? lowest;
  }

  #refuseBehind(written: number): void {
    if (this.#format + 1 < written) throw new FormatBehindError(written, this.#format);
  }

  async #written(): Promise<number> {
    return Number((await this.#redis.get(this.#keys.format)) ?? 0);
  }

  /** An id repeats the millisecond of the one before it while the clock is behind that: then the clock itself is asked. */
  async #clockAt(id: string): Promise<number> {
    return id.endsWith('-0') ? timeOf(id) : this.#time();
  }

  async #time(): Promise<number> {
    const [seconds, micros] = await this.#redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  async #firstDue(): Promise<number | null> {
    const [, due] = await this.#redis.zrange(this.#keys.due, '0', '0', 'WITHSCORES');
    return due === undefined ? null : Number(due);
  }

  async #overdue(now: number): Promise<OverdueCron[]> {
    const before = now - OVERDUE_MS;
    const flat = await this.#redis.zrangebyscore(
      ...([this.#keys.due, '-inf', before, 'WITHSCORES', 'LIMIT', 0, MAX_OVERDUE] as const),
    );
    return Array.from({ length: flat.length / 2 }, (_, n) => {
      return { cron: flat[2 * n] ?? '', overdueMs: now - Number(flat[2 * n + 1]) };
    });
  }
}

function timeOf(id: string): number {
  return Number(id.split('-', 1)[0]);
}

function isBefore(id: string, other: string): boolean {
  const [[ms = 0, seq = 0], [otherMs = 0, otherSeq = 0]] = [id, other].map((one) => one.split('-').map(Number)) as [
    number[],
    number[],
  ];
  return ms === otherMs ? seq < otherSeq : ms < otherMs;
}

function inParts<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / MAX_BATCH);
  return Array.from({ length: count }, (_, n) => items.slice(n * MAX_BATCH, (n + 1) * MAX_BATCH));
}
