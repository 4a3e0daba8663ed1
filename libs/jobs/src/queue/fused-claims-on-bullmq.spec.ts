import { randomUUID } from 'node:crypto';
import { parseFence } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import type { ClaimReply, ClaimRequest, OccurrenceLog } from '@fencepost/ledger';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import { RedisLedger } from '@fencepost/ledger/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { BullmqRunQueue } from './bullmq-run-queue.js';
import { FusedClaims } from './fused-claims.js';
import { FORMER_QUEUE, UNROUTED_QUEUE } from './routing.js';
import type { Targets } from './run-router.js';
import { UnroutedRuns } from './unrouted.js';
import { Telemetry } from '../telemetry/telemetry.js';

const FIRST = Date.UTC(2026, 0, 1);
const at = (n: number) => FIRST + n * 1_000;

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function stage() {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const ledger = new RedisLedger({ redis, ...space });
  const queue = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const { claimStep } = ledger;
  if (!claimStep) throw new Error('Expected a ledger that can share a step.');
  const claims = queue.claimsWith(claimStep);
  if (!claims) throw new Error('Expected a queue that can share a step.');
  const waiting = async (name = FORMER_QUEUE) => (await queue.queues.named(name).getWaiting()).map(({ id }) => id);
  return { redis, space, ledger, queue, claimStep, claims, waiting, claim: (one: ClaimRequest) => only(claims, one) };
}

type Stage = ReturnType<typeof stage>;

async function only(claims: Pick<OccurrenceLog, 'claimAll'>, asked: ClaimRequest): Promise<ClaimReply> {
  const [outcome] = await claims.claimAll([asked]);
  if (outcome?.status !== 'fulfilled') throw outcome?.reason;
  return outcome.value;
}

function request(n: number, over: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    cron: 'report',
    fence: parseFence('1000'),
    term: 't',
    holder: 's/1',
    generation: 1,
    nonce: randomUUID(),
    cursor: n === 1 ? null : at(n - 1),
    skips: [],
    overlap: 'allow' as const,
    occurrence: { scheduledAt: at(n), dueAt: at(n), reason: 'schedule', missed: null },
    ...over,
  };
}

const begin = ({ ledger }: Stage, runId: string) =>
  ledger.begin({ runId, nonce: 'n', worker: 'w/1', ttlMs: 60_000, maxAttempts: 3 });

describe('FusedClaims', () => {
  it('claims and enqueues in one step: the run is enqueued, its job waits, and nothing is pending', async () => {
    const { claim, ledger, queue, waiting } = stage();
    const runId = `report@${at(1)}`;
    expect(await claim(request(1))).toEqual({ verdict: 'claimed', runId });
    const run = await ledger.readRun(runId);
    expect(run).toMatchObject({ state: 'enqueued', delivery: 1, enqueuedAt: run?.claimedAt });
    expect(await ledger.pending('report')).toEqual([]);
    expect(await waiting()).toEqual([runId]);
    expect(await queue.jobOf(runId)).toMatchObject({ name: 'report', data: { runId }, opts: { attempts: 1 } });
  });

  it('answers in the order given, each claim in the queue of its run, and tells of those without a worker', async () => {
    const { redis, queue, claimStep, waiting, ledger } = stage();
    const unrouted = new UnroutedRuns({ ledger, telemetry: new Telemetry() });
    const targets = async (runIds: readonly string[]): Promise<Targets> => ({
      queues: runIds.map((runId) => (runId.startsWith('lost') ? UNROUTED_QUEUE : runId.startsWith('a') ? 'a' : 'b')),
      taken: new Set(['a', 'b']),
    });
    const parts = { queues: queue.queues, router: { targets } };
    const claims = new FusedClaims({ redis, step: claimStep, ...parts, unrouted });
    const crons = ['a1', 'lost', 'b1', 'a2', 'b2'];
    const outcomes = await claims.claimAll(crons.map((cron) => request(1, { cron })));
    const ids = crons.map((cron) => `${cron}@${at(1)}`);
    expect(outcomes).toMatchObject(ids.map((runId) => ({ status: 'fulfilled', value: { verdict: 'claimed', runId } })));
    expect(await waiting('a')).toEqual([ids[0], ids[3]]);
    expect(await waiting('b')).toEqual([ids[2], ids[4]]);
    expect(await waiting(UNROUTED_QUEUE)).toEqual([ids[1]]);
    expect(await Promise.all(ids.map(async (id) => (await ledger.readRun(id))?.waiting))).toEqual(
      ids.map((_, n) => (n === 1 ? 'no-capable-worker' : null)),
    );
    expect(await queue.queues.names()).toEqual(['a', 'b', FORMER_QUEUE, UNROUTED_QUEUE]);
  });

  it('claims nothing while it is unknown where runs go', async () => {
    const { redis, queue, claimStep, ledger } = stage();
    const router = { targets: () => Promise.reject(new Error('away')) };
    const claims = new FusedClaims({ redis, queues: queue.queues, step: claimStep, router });
    await expect(claims.claimAll([request(1)])).rejects.toThrow('away');
    expect(await ledger.readCron('report')).toMatchObject({ cursor: null });
  });

  it.each<[string, Partial<ClaimRequest>, ClaimReply['verdict']]>([
    ['of an older term', { fence: parseFence('999') }, 'stale'],
    ['of an older generation', { generation: 0 }, 'stale-definition'],
    ['that starts elsewhere', { cursor: at(-5) }, 'moved'],
    ['that has to wait for a run before it', { overlap: 'skip' }, 'skipped'],
    [
      'without an instant',
      { skips: [{ after: at(1), through: at(2), reason: 'misfire' }], occurrence: null },
      'recorded',
    ],
    [
      'that comes early',
      { occurrence: { scheduledAt: at(2), dueAt: Date.now() + 3_600_000, reason: 'schedule', missed: null } },
      'early',
    ],
  ])('adds no job for a claim %s', async (_which, over, verdict) => {
    const { claim, waiting } = stage();
    await claim(request(1));
    expect(await claim(request(2, over))).toMatchObject({ verdict });
    expect(await waiting()).toEqual([`report@${at(1)}`]);
  });

  it('adds no job for a paused cron', async () => {
    const { claim, ledger, waiting } = stage();
    await ledger.pause('report', { by: 'ada', reason: 'migration', until: null });
    expect(await claim(request(1))).toEqual({ verdict: 'skipped', reason: 'paused' });
    expect(await waiting()).toEqual([]);
  });

  it('adds no second job for a claim that arrives once more, although the first job is gone', async () => {
    const { claim, queue, waiting } = stage();
    const sent = request(1);
    const reply = await claim(sent);
    expect(await claim(sent)).toEqual(reply);
    expect(await waiting()).toHaveLength(1);
    await queue.queues.named(FORMER_QUEUE).obliterate({ force: true });
    expect(await claim(sent)).toEqual(reply);
    expect(await waiting()).toEqual([]);
  });

  it('moves no run back that was begun, or has ended, when its claim arrives once more', async () => {
    const one = stage();
    const [sent, runId] = [request(1), `report@${at(1)}`];
    await one.claim(sent);
    const begun = await begin(one, runId);
    if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
    await one.claim(sent);
    expect(await one.ledger.readRun(runId)).toMatchObject({ state: 'running', attempt: 1 });
    await one.ledger.finish({ runId, nonce: 'n', fence: begun.fence }, { kind: 'succeeded' });
    await one.claim(sent);
    expect(await one.ledger.readRun(runId)).toMatchObject({ state: 'succeeded', attempt: 1 });
  });

  it('rejects alone what is no claim, or of a cron whose record is broken; its neighbours have their jobs', async () => {
    const { redis, space, claims, waiting, ledger } = stage();
    await redis.set(redisKeys(space)('broken', 'cron'), 'no hash');
    const sent = ['a', 'none', 'broken', 'z'].map((cron) => request(1, { cron }));
    sent[1] = { ...(sent[1] as ClaimRequest), generation: Number.NaN };
    const outcomes = await claims.claimAll(sent);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(await waiting()).toEqual([`a@${at(1)}`, `z@${at(1)}`]);
    expect(await ledger.readRun(`z@${at(1)}`)).toMatchObject({ state: 'enqueued' });
  });

  it('claims a thousand crons in a few calls', async () => {
    const { claims, waiting } = stage();
    const crons = Array.from({ length: 1_000 }, (_, n) => `cron-${n}`);
    const outcomes = await claims.claimAll(crons.map((cron) => request(1, { cron })));
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(new Set(await waiting())).toEqual(new Set(crons.map((cron) => `${cron}@${at(1)}`)));
  });
});

/** What a step leaves behind, without its times. */
async function leftBy({ redis, space, ledger, queue }: Stage) {
  const runs = await ledger.runs('report', 20);
  const [pending, unstarted] = [await ledger.pending('report'), await ledger.unstarted('report', 20)];
  const jobs = (await queue.queues.named(FORMER_QUEUE).getWaiting()).map(({ id, data, opts }) => ({ id, data, opts }));
  const keys = (await redis.keys(`${space.prefix}:*`)).map((key) => key.slice(space.prefix.length)).toSorted();
  const withoutTimes = runs.map(({ claimedAt: _claimed, enqueuedAt, finishedAt, startedAt, ...run }) => ({
    ...run,
    times: [enqueuedAt, finishedAt, startedAt].map((time) => time !== null),
  }));
  return { runs: withoutTimes, pending, unstarted, jobs, keys };
}

/** As the dispatcher does it where queue and ledger share no step. */
async function inThreeSteps({ ledger, queue }: Stage, sent: ClaimRequest): Promise<ClaimReply> {
  const reply = await ledger.claim(sent);
  if (reply.verdict !== 'claimed') return reply;
  await queue.enqueue([{ runId: reply.runId, delivery: 1 }]);
  await ledger.confirm([reply.runId]);
  return reply;
}

describe('a claim that enqueues', () => {
  it.each<OverlapPolicy>(['skip', 'queue-one', 'queue-all', 'replace', 'allow'])(
    'leaves what three steps leave, also behind others (overlap "%s")',
    async (overlap) => {
      const [one, other] = [stage(), stage()];
      const both = async (act: (at: Stage, claim: (sent: ClaimRequest) => Promise<ClaimReply>) => Promise<unknown>) => {
        const replies = [await act(one, one.claim), await act(other, (sent) => inThreeSteps(other, sent))];
        expect(replies[0]).toEqual(replies[1]);
        expect(await leftBy(one)).toEqual(await leftBy(other));
      };
      const last = { cursor: null as number | null };
      const next = (n: number, over: Partial<ClaimRequest> = {}) =>
        both((_stage, claim) => claim({ ...request(n, over), nonce: `nonce-${n}`, overlap, cursor: last.cursor })).then(
          () => void (last.cursor = at(n)),
        );
      await next(1, { handler: 'send', payload: '{"to":"ada"}', startBy: at(100_000) });
      await both(async (stageOf) => (await begin(stageOf, `report@${at(1)}`)).verdict);
      for (const n of [2, 3, 4]) await next(n, { skips: [], maxConcurrency: n === 4 ? 2 : 1 });
    },
  );
});

describe('claimStep', () => {
  it('is absent where a claim has to reach replicas first', () => {
    const redis = spaces.redis();
    const replication = { redis, replicas: 1, timeoutMs: 100 };
    expect(new RedisLedger({ redis, ...spaces.fresh(), replication }).claimStep).toBeNull();
  });

  it('is of no use to a queue whose jobs carry spans', () => {
    const { redis, space, claimStep } = stage();
    const tracing = {} as NonNullable<ConstructorParameters<typeof BullmqRunQueue>[0]['tracing']>;
    const queue = new BullmqRunQueue({ redis, ...space, tracing, onTrouble: () => {} });
    closing.push(() => queue.close());
    expect(queue.claimsWith(claimStep)).toBeNull();
  });
});
