import { endOfPart, type AccountPart, checkRange, checkWhole, LATE_TRIGGER_MS } from '../base/ledger-request.js';
import type { Account, AccountRequest, ItemRecord, NewestRequest, Notification, RunHistory } from '../base/ledger.js';
import { FORGET_BATCH } from '../base/ledger-timing.js';
import { decodeEffects, decodeItems } from './redis-attempt-codec.js';
import { readEach } from '../base/format.js';
import { decodeNotification, decodeRun, decodeSkipRange, RUN_FIELDS, type RunRow } from './redis-run-codec.js';
import { cronOfRun } from '../base/occurrence.js';
import type { EffectRecord, Run, SkipRange } from '../base/run.js';
import { type RedisLedgerAccess, keysOfRun } from './redis-ledger-access.js';

/** Read by one script, of a single node. */
const MAX_CRONS = 500;

/** A script that has found so many members of sorted sets looks at no other set. */
const ENOUGH_FOUND = 2_000;

/** Runs read by one script, which stops everybody else meanwhile. */
const MAX_RUNS = 250;

/** Scripts that are under way at once: on a cluster each is about one cron. */
const AT_ONCE = 1;
const AT_ONCE_ON_CLUSTER = 20;

interface Found {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What the ledger in Redis knows of the past, and how it forgets it. */
export class RedisRunHistory implements RunHistory {
  constructor(protected readonly access: RedisLedgerAccess) {}

  async readRun(runId: string): Promise<Run | null> {
    const key = keysOfRun(this.access.keys, runId).run(runId);
    return decodeRun(runId, await this.access.redis.hmget(key, ...RUN_FIELDS));
  }

  async countRuns(crons: readonly string[]): Promise<number[]> {
    const counts = this.access.inBatches(crons, MAX_CRONS).map((batch) => {
      const keys = batch.map((cron) => this.access.keys(cron).runs);
      return this.access.ask('count-runs', keys, [this.access.timing.keepMs]) as Promise<number[]>;
    });
    return (await Promise.all(counts)).flat();
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    const [runs = []] = await this.newestRuns([cron], limit);
    return runs;
  }

  async newestRuns(...[crons, limit, { from, to } = {}]: NewestRequest): Promise<Run[][]> {
    const range = [to === undefined ? '+inf' : `(${to}`, from ?? '-inf'] as const;
    const keys = crons.map((cron) => this.access.keys(cron).runs);
    const found = await this.#newestIn(keys, limit, range);
    const runs = new Map((await this.existing(found.flat().map(({ id }) => id))).map((run) => [run.id, run]));
    return found.map((ids) => ids.flatMap(({ id }) => runs.get(id) ?? []));
  }

  /** By when each came into that state; of those that did at once the later instant first. */
  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    const keys = crons.map((cron) => this.access.keys(cron)[state]);
    const found = await this.#newestIn(keys, limit);
    const latest = found.flat().toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    return (await this.existing(latest.map(({ id }) => id))).filter((run) => run.state === state);
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    if (limit < 1) return [];
    const ranges = await this.access.redis.zrevrange(this.access.keys(cron).skips, 0, limit - 1);
    return ranges.map(decodeSkipRange);
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    return decodeEffects(await this.access.redis.hgetall(keysOfRun(this.access.keys, runId).run(runId)));
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    return decodeItems(await this.access.redis.hgetall(keysOfRun(this.access.keys, runId).items(runId)), effect);
  }

  async account(...[cron, from, to, most]: AccountRequest): Promise<Account> {
    checkRange(from, to);
    const end = most === undefined ? to : await this.#endOfPart(cron, { from, to, most });
    return { ...(await this.#all(cron, from, end)), ...(end < to && { more: end }) };
  }

  async #endOfPart(cron: string, { from, to, most }: AccountPart): Promise<number> {
    checkWhole('most', most, 1);
    const { runs } = this.access.keys(cron);
    const [first, beyond] = await Promise.all(
      [0, most].map(async (skipped) => {
        const found = await this.access.redis.zrangebyscore(runs, from, `(${to}`, 'WITHSCORES', 'LIMIT', skipped, 1);
        return found[1] === undefined ? undefined : Number(found[1]);
      }),
    );
    return endOfPart({ first, beyond, to });
  }

  /** What was forgotten is asked for last: whatever goes while the rest is read is counted in. */
  async #all(cron: string, from: number, to: number): Promise<Account> {
    const { redis, keys } = this.access;
    const [skips, ids] = await Promise.all([
      this.#skipsIn(cron, from, to),
      redis.zrangebyscore(keys(cron).runs, from, `(${to}`, 'WITHSCORES'),
    ]);
    const runs = new Map((await this.existing(ids.filter((_, n) => n % 2 === 0))).map((run) => [run.id, run]));
    const gone = ids.flatMap((id, n) => (n % 2 === 0 && !runs.has(id) ? [Number(ids[n + 1])] : []));
    const forgotten = Number((await redis.hget(keys(cron).cron, 'forgotten')) ?? 0);
    return { runs: [...runs.values()], skips, forgotten: Math.max(forgotten, gone.at(-1) ?? 0) || null };
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    if (limit < 1) return [];
    const { notifications } = this.access.keys(cron);
    return readEach(await this.access.redis.zrange(notifications, 0, String(limit - 1)), decodeNotification);
  }

  async settleNotifications(cron: string, receipts: readonly string[]): Promise<void> {
    if (receipts.length > 0) await this.access.redis.zrem(this.access.keys(cron).notifications, ...receipts);
  }

  async countKeys(cron: string): Promise<number> {
    const [{ redis, keys }, [seconds, micros]] = [this.access, await this.access.redis.time()];
    const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    return redis.zcount(keys(cron).used, `(${now}`, '+inf');
  }

  async forget(cron: string, keep: number): Promise<number> {
    checkWhole('keep', keep, 0);
    const keys = this.access.keys(cron);
    const forgotten = await this.access.ask(
      'forget-runs',
      [keys.cron, keys.runs, keys.open, keys.skips, keys.failed, keys.used],
      [keep, FORGET_BATCH, LATE_TRIGGER_MS],
    );
    return Number(forgotten);
  }

  /** No two ranges share an instant, so the one that `to` lies in is the first that ends there or later. */
  async #skipsIn(cron: string, from: number, to: number): Promise<SkipRange[]> {
    const { skips } = this.access.keys(cron);
    const [within, beyond] = await Promise.all([
      this.access.redis.zrangebyscore(skips, from, `(${to}`),
      this.access.redis.zrangebyscore(skips, to, '+inf', 'LIMIT', 0, 1),
    ]);
    return [...within, ...beyond].map(decodeSkipRange).filter(({ after }) => after + 1 < to);
  }

  protected async existing(ids: readonly string[]): Promise<Run[]> {
    const batches = this.#readableAtOnce(ids);
    const rows = await this.#inTurn(batches, async (batch) => {
      const keys = batch.map((id) => keysOfRun(this.access.keys, id).run(id));
      return (await this.access.ask('read-runs', keys, RUN_FIELDS)) as RunRow[];
    });
    const found = rows.flat();
    return ids.flatMap((id, n) => decodeRun(id, found[n] ?? []) ?? []);
  }

  /** In the order given: on a cluster a script reads the runs of one cron. */
  #readableAtOnce(ids: readonly string[]): string[][] {
    const batches: string[][] = [];
    const { isCluster } = this.access.redis;
    for (const id of ids) {
      const last = batches.at(-1);
      const isNear = last && (!isCluster || cronOfRun(last[0] ?? '') === cronOfRun(id));
      if (isNear && last.length < MAX_RUNS) last.push(id);
      else batches.push([id]);
    }
    return batches;
  }

  /** Of each sorted set, the newest first. */
  async #newestIn(
    keys: readonly string[],
    limit: number,
    [latest, earliest]: readonly [string | number, string | number] = ['+inf', '-inf'],
  ): Promise<Found[][]> {
    if (limit < 1) return keys.map(() => []);
    const rows = await this.#inTurn(this.access.inBatches(keys, MAX_CRONS), async (batch) => {
      const read: string[][] = [];
      while (read.length < batch.length) {
        const words = [limit, latest, earliest, ENOUGH_FOUND];
        read.push(...((await this.access.ask('list-newest', batch.slice(read.length), words)) as string[][]));
      }
      return read;
    });
    return rows.flat().map((row) => row.flatMap((id, n) => (n % 2 === 0 ? [{ id, at: Number(row[n + 1]) }] : [])));
  }

  /** Some at a time: what is sent in one go delays whatever else uses the connection, and its answers come in one go as well. */
  async #inTurn<Item, Answer>(items: readonly Item[], ask: (item: Item) => Promise<Answer>): Promise<Answer[]> {
    const answers: Answer[] = [];
    const most = this.access.redis.isCluster ? AT_ONCE_ON_CLUSTER : AT_ONCE;
    for (let at = 0; at < items.length; at += most) {
      answers.push(...(await Promise.all(items.slice(at, at + most).map(ask))));
    }
    return answers;
  }
}
