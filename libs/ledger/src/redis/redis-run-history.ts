import { endOfPart, type AccountPart, checkRange, checkWhole, LATE_TRIGGER_MS } from '../base/ledger-request.js';
import type { Account, AccountRequest, ItemRecord, Notification, RunHistory } from '../base/ledger.js';
import { FORGET_BATCH } from '../base/ledger-timing.js';
import { decodeEffects, decodeItems } from './redis-attempt-codec.js';
import { decodeNotification, decodeRun, decodeSkipRange, RUN_FIELDS } from './redis-run-codec.js';
import type { EffectRecord, Run, SkipRange } from '../base/run.js';
import { type RedisLedgerAccess, keysOfRun } from './redis-ledger-access.js';

/** Read by one script, of a single node. */
const MAX_CRONS = 500;

/** Commands that are under way at once. */
const WINDOW = 100;

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
    return this.existing(await this.#newest(this.access.keys(cron).runs, limit));
  }

  /** By when each came into that state; of those that did at once the later instant first. */
  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    const found = await inWindows(crons, (cron) => this.#newestIn(this.access.keys(cron)[state], limit));
    const latest = found.flat().toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    return (await this.existing(latest.map(({ id }) => id))).filter((run) => run.state === state);
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    return (await this.#newest(this.access.keys(cron).skips, limit)).map(decodeSkipRange);
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
    return (await this.access.redis.zrange(notifications, 0, String(limit - 1))).map(decodeNotification);
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
    const runs = await inWindows(ids, (id) => this.readRun(id));
    return runs.filter((run) => run !== null);
  }

  async #newestIn(key: string, limit: number): Promise<{ readonly id: string; readonly at: number }[]> {
    if (limit < 1) return [];
    const found = await this.access.redis.zrevrange(key, 0, limit - 1, 'WITHSCORES');
    return found.flatMap((id, n) => (n % 2 === 0 ? [{ id, at: Number(found[n + 1]) }] : []));
  }

  /** A stop of −1 means all of them, so a limit of 0 never gets there. */
  async #newest(key: string, limit: number): Promise<string[]> {
    return limit < 1 ? [] : this.access.redis.zrevrange(key, 0, limit - 1);
  }
}

/**
 * So many at a time: what is sent in one go delays whatever else uses the connection, and its answers come in one go as well.
 */
async function inWindows<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < items.length; at += WINDOW) {
    answers.push(...(await Promise.all(items.slice(at, at + WINDOW).map(ask))));
  }
  return answers;
}
