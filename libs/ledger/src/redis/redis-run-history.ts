import { endOfPart, type AccountPart, checkRange, checkTally, checkWhole } from '../base/ledger-request.js';
import type {
  Account,
  AccountRequest,
  ItemRecord,
  NewestRequest,
  Notification,
  RunHistory,
  RunWithEffects,
  Tally,
  TallyRequest,
  TallyRow,
} from '../base/ledger.js';
import { MAX_LOOKED_BACK } from '../base/ledger-timing.js';
import { untilAnswered } from '../catalog/in-batches.js';
import { decodeEffects, decodeItems, decodeRunWithEffects } from './redis-attempt-codec.js';
import { readEach } from '../base/format.js';
import {
  decodeClass,
  decodeNotification,
  decodeRun,
  decodeSkipRange,
  RUN_FIELDS,
  type RunRow,
} from './redis-run-codec.js';
import { cronOfRun } from '../base/occurrence.js';
import type { EffectRecord, Run, SkipRange } from '../base/run.js';
import { type RedisLedgerAccess, keysOfRun } from './redis-ledger-access.js';
import { cronsWith } from './redis-rare-keys.js';
import { forgetBatch, MAX_FORGETTING } from './redis-retention.js';

/** Read by one script, of a single node. */
const MAX_CRONS = 500;

/** A script that has found so many members of sorted sets looks at no other set. */
const ENOUGH_FOUND = 2_000;

/** Runs read by one script, which stops everybody else meanwhile. */
const MAX_RUNS = 250;

/** Runs counted by one script, which answers with a few words: three milliseconds. */
const MAX_COUNTED = 1_100;

/** Members of a sorted set read by one command. */
const MAX_MEMBERS = 1_000;

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

  async readWithEffects(runIds: readonly string[]): Promise<RunWithEffects[]> {
    const hashes = await this.access.inTurn(this.#readableAtOnce(runIds), async (batch) => {
      const keys = batch.map((id) => keysOfRun(this.access.keys, id).run(id));
      return (await this.access.ask('read-runs-with-effects', keys, [])) as string[][];
    });
    const found = hashes.flat();
    const readable = readEach([...runIds.entries()], ([n, id]) => decodeRunWithEffects(id, found[n] ?? []));
    return readable.filter((read) => read !== null);
  }

  async previousSuccess(runId: string): Promise<Run | null> {
    const { cron, runs } = keysOfRun(this.access.keys, runId);
    let last = runId;
    for (let left = MAX_LOOKED_BACK; left > 0; left -= MAX_RUNS) {
      const [word, id = ''] = await this.access.call('find-success', [runs, cron], [last, Math.min(left, MAX_RUNS)]);
      if (word === 'FOUND') return this.readRun(id);
      if (word === 'NONE') break;
      last = id;
    }
    return null;
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
    const some = await cronsWith(this.access, [state], crons);
    const keys = some.map((cron) => this.access.keys(cron)[state]);
    const found = await this.#newestIn(keys, limit);
    const latest = found.flat().toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    return (await this.existing(latest.map(({ id }) => id))).filter((run) => run.state === state);
  }

  notable(crons: readonly string[]): Promise<string[]> {
    return cronsWith(this.access, ['open', 'failed', 'noted'], crons);
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    const [skips = []] = await this.newestSkips([cron], limit);
    return skips;
  }

  async newestSkips(crons: readonly string[], limit: number): Promise<SkipRange[][]> {
    const keys = crons.map((cron) => this.access.keys(cron).skips);
    return (await this.#newestIn(keys, limit)).map((found) => found.map(({ id }) => decodeSkipRange(id)));
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
    const [skips, found] = await Promise.all([
      this.#skipsIn(cron, from, to),
      this.#membersIn(this.access.keys(cron).runs, from, to),
    ]);
    const runs = new Map((await this.existing(found.map(({ id }) => id))).map((run) => [run.id, run]));
    const gone = found.filter(({ id }) => !runs.has(id)).at(-1)?.at ?? 0;
    return { runs: [...runs.values()], skips, forgotten: await this.#forgotten(cron, gone) };
  }

  async #forgotten(cron: string, gone: number): Promise<number | null> {
    const { redis, keys } = this.access;
    return Math.max(Number((await redis.hget(keys(cron).cron, 'forgotten')) ?? 0), gone) || null;
  }

  async tally(cron: string, { from, to, bucketMs, graceMs, most }: TallyRequest): Promise<Tally> {
    checkTally({ from, to, bucketMs, graceMs, most });
    const { runs, cron: record } = this.access.keys(cron);
    const rows = new Map<string, TallyRow>();
    let [at, gone] = [from, 0];
    for (let left = most; left > 0 && at < to; left -= MAX_COUNTED) {
      const words = [at, to, bucketMs, graceMs, Math.min(left, MAX_COUNTED)];
      const [more, lost, ...counted] = (await this.access.ask('tally-runs', [runs, record], words)) as Words;
      addRows(rows, counted);
      gone = Math.max(gone, Number(lost));
      at = more === '' ? to : Number(more);
    }
    const skips = await this.#skipsIn(cron, from, at);
    const forgotten = await this.#forgotten(cron, gone);
    return { rows: [...rows.values()], skips, forgotten, ...(at < to && { more: at }) };
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

  async forgetAll(crons: readonly string[], keep: number): Promise<PromiseSettledResult<number>[]> {
    checkWhole('keep', keep, 0);
    const batches = this.access.inBatches(crons, MAX_FORGETTING);
    return (await this.access.inTurn(batches, (batch) => forgetBatch(this.access, batch, keep))).flat();
  }

  /** No two ranges share an instant, so the one that `to` lies in is the first that ends there or later. */
  async #skipsIn(cron: string, from: number, to: number): Promise<SkipRange[]> {
    const { skips } = this.access.keys(cron);
    const [within, beyond] = await Promise.all([
      this.#membersIn(skips, from, to),
      this.access.redis.zrangebyscore(skips, to, '+inf', 'LIMIT', 0, 1),
    ]);
    const ranges = [...within.map(({ id }) => id), ...beyond];
    return ranges.map(decodeSkipRange).filter(({ after }) => after + 1 < to);
  }

  /** Page by page, each from the last score on: what is forgotten meanwhile moves no later member out of sight. */
  async #membersIn(key: string, from: number, to: number): Promise<Found[]> {
    const found = new Map<string, Found>();
    for (let [at, seen] = [from, 0]; ;) {
      const limits = ['WITHSCORES', 'LIMIT', seen, MAX_MEMBERS] as const;
      const page = foundIn(await this.access.redis.zrangebyscore(key, at, `(${to}`, ...limits));
      for (const one of page) found.set(one.id, one);
      const last = page.at(-1)?.at ?? to;
      if (page.length < MAX_MEMBERS) return [...found.values()];
      const ofLast = page.filter(({ at: of }) => of === last).length;
      [at, seen] = last === at ? [at, seen + ofLast] : [last, ofLast];
    }
  }

  protected async existing(ids: readonly string[]): Promise<Run[]> {
    const batches = this.#readableAtOnce(ids);
    const rows = await this.access.inTurn(batches, async (batch) => {
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
    const words = [limit, latest, earliest, ENOUGH_FOUND];
    const rows = await this.access.inTurn(this.access.inBatches(keys, MAX_CRONS), (batch) =>
      untilAnswered(batch, async (rest) => (await this.access.ask('list-newest', rest, words)) as string[][]),
    );
    return rows.flat().map(foundIn);
  }
}

type Words = [more: string, lost: string, ...counted: (string | number)[]];

/** Members and their scores, by turns. */
function foundIn(words: readonly string[]): Found[] {
  return words.flatMap((id, n) => (n % 2 === 0 ? [{ id, at: Number(words[n + 1]) }] : []));
}

/** Three words of each kind; a bucket may be counted in several parts. */
function addRows(rows: Map<string, TallyRow>, words: readonly (string | number)[]): void {
  for (let n = 0; n < words.length; n += 3) {
    const [at, kind, count] = [Number(words[n]), String(words[n + 1]), Number(words[n + 2])];
    const key = `${at} ${kind}`;
    rows.set(key, { at, ...decodeClass(kind), count: (rows.get(key)?.count ?? 0) + count });
  }
}
