import { systemClock, type Clock } from '@fencepost/lease';
import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { FORMAT } from '@fencepost/ledger/format';
import { FormerProcesses } from './redis-former-processes.js';
import { HeardProcesses } from './heard-processes.js';
import {
  FormatBehindError,
  HEARTBEAT_MS,
  MAX_OVERDUE,
  MEMBER_GONE_MS,
  OVERDUE_MS,
  REPLY_MS,
  type Announced,
  type HeartbeatReply,
  type LiveProcess,
  type LowestFormat,
  type Member,
  type Membership,
  type OverdueCron,
  type ProcessKind,
} from './membership.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['raise-format', 'send-heartbeat']);

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
type Reply = [id: string, now: string, entries: Entry[], version: string, format: string, firstDue: string];

/** A sign of life as it is sent. */
interface Sign {
  readonly process: string;
  readonly kind: ProcessKind;
  readonly weight?: number;
}

/** What the store replies to a sign of life. */
interface Told extends Pick<HeartbeatReply, 'now' | 'lowest' | 'isAlone'> {
  readonly catalogVersion: number;
  readonly firstDue: number;
}

/** The worker of a scheduler pod says nothing for half an interval longer than that pod. */
const LATE_MS = HEARTBEAT_MS / 2;

/**
 * Membership beside the catalog. A sign of life is one entry of a stream, whose id is the server's clock, and a reader fetches
 * only what came since its last look. One that asks for a reply is one script; one that doesn't is one plain command.
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
  /** The pod that sends heartbeats through this object: when the last was sent, monotonic, and what the last reply said. */
  #own: { readonly pod: string; readonly sentAt: number; readonly told: Announced } | null = null;
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
    const sentAt = this.#clock.monotonic();
    const { firstDue, ...told } = await this.#send({ process: pod, kind: 'pod', weight }, true);
    const { now, catalogVersion, lowest, isAlone } = told;
    this.#own = { pod, sentAt, told: { ...lowest, catalogVersion, isAlone } };
    const overdue = firstDue <= now - OVERDUE_MS ? await this.#overdue(now) : [];
    return { ...told, members: this.#heard.members(now), overdue };
  }

  async beat(process: string, kind: ProcessKind, weight = 1): Promise<void> {
    const own = this.#own?.pod === process ? this.#own : null;
    if (kind === 'process' && this.#speaksFor(process)) return;
    const sentAt = this.#clock.monotonic();
    const entry = entryOf({ process, kind, weight }, this.#format);
    await this.#redis.xadd(this.#keys.heartbeats, 'MAXLEN', '~', MAX_ENTRIES, '*', ...entry);
    if (kind === 'pod' && own) this.#own = { ...own, sentAt };
  }

  async members(): Promise<readonly Member[]> {
    if (this.#lastId === null) return [];
    const now = this.#known.now + Math.floor(this.#clock.monotonic() - this.#known.at);
    this.#note(await this.#entries(), now);
    return this.#heard.members(now);
  }

  async announce(process: string): Promise<Announced> {
    if (this.#own && this.#speaksFor(process)) return this.#own.told;
    await this.#begin();
    const { lowest, catalogVersion, isAlone } = await this.#send({ process, kind: 'process' }, false);
    return { ...lowest, catalogVersion, isAlone };
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
    if (this.#own?.pod === process) this.#own = null;
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

  /** Whether the heartbeats of a scheduler pod tell the others all that a worker of the same process would. */
  #speaksFor(process: string): boolean {
    if (this.#own?.pod !== process) return false;
    const everyMs = this.#own.told.isAlone ? REPLY_MS : HEARTBEAT_MS;
    return this.#clock.monotonic() - this.#own.sentAt < everyMs + LATE_MS;
  }

  async #send(sign: Sign, asksForDue: boolean): Promise<Told> {
    const { heartbeats, version, format, due } = this.#keys;
    const keys = [heartbeats, version, format, ...(asksForDue ? [due] : [])];
    const args = [MAX_ENTRIES, this.#lastId ?? '0-0', ...entryOf(sign, this.#format)];
    const reply = await SCRIPTS['send-heartbeat'].run(this.#redis, keys, args);
    const [id, at, entries, catalogVersion, written, first] = reply as Reply;
    const now = Number(at);
    await this.#apply(entries, id, now);
    const lowest = await this.#agree(Number(written), now);
    return {
      now,
      lowest,
      isAlone: this.#heard.isAlone(sign.process, now),
      catalogVersion: Number(catalogVersion),
      firstDue: first === '' ? Infinity : Number(first),
    };
  }

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

  async #time(): Promise<number> {
    const [seconds, micros] = await this.#redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
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

function entryOf({ process, kind, weight = 1 }: Sign, format: number): (string | number)[] {
  return [kind, process, 'format', format, ...(weight === 1 ? [] : ['weight', weight])];
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
