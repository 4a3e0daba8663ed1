import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NotReplicatedError } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { LONG_MS, Stage } from './stage.js';
import { freshPrefix } from '../../../../test/support/redis.js';
import { replicatedRedis, type ReplicatedRedis } from '../../../../test/support/replicated-redis.js';

const TIMEOUT_MS = 300;
const refusal = { code: 'NOT_REPLICATED', asked: 1, acknowledged: 0 };

let servers: ReplicatedRedis;
let space: { prefix: string; tenant: string };
/** Over a ledger that waits for nobody. */
let stage: Stage;
let waiting: RedisLedger;

async function setTheStage(): Promise<void> {
  space = { prefix: freshPrefix(), tenant: 'default' };
  const { redis } = servers;
  const now = async () => Number((await redis.time())[0]) * 1_000;
  const unused = () => Promise.reject(new Error('Expected nobody to move the clock.'));
  const ledger = new RedisLedger({ redis, ...space });
  stage = await Stage.of(async () => ({ ledger, cron: 'charge', now, advance: unused, clockGoesBack: unused }));
  waiting = await waitingLedger();
}

/** With a connection of its own that has written and is acknowledged, as one that WAIT could count falsely. */
async function waitingLedger(): Promise<RedisLedger> {
  const own = await servers.connect();
  await own.set('used', '');
  await own.wait(1, 5_000);
  const replication = { redis: own, replicas: 1, timeoutMs: TIMEOUT_MS };
  return new RedisLedger({ redis: servers.redis, ...space, replication });
}

/** Of the ledger as a failover would find it. */
function onReplica(): RedisLedger {
  return new RedisLedger({ redis: servers.replica, ...space });
}

function order() {
  return { by: 'ada', reason: 'the bank is closed' };
}

describe('a ledger that waits for a replica', () => {
  beforeAll(async () => {
    servers = await replicatedRedis();
  });
  afterAll(() => servers.stop());
  beforeEach(() => setTheStage());
  afterEach(async () => {
    servers.replicaServer.thaw();
    await servers.untilReplicated();
  });

  it('answers when the replica has what was decided', async () => {
    const { runId } = (await waiting.claim(await stage.request(1))) as { runId: string };
    expect(await onReplica().readRun(runId)).toMatchObject({ state: 'claimed' });
    const request = stage.attempt(runId);
    const begun = await waiting.begin(request);
    if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
    expect(await onReplica().readRun(runId)).toMatchObject({ state: 'running', attempt: 1 });
    const attempt = { runId, nonce: request.nonce, fence: begun.fence };
    await waiting.beginEffect(attempt, { name: 'card', ifUnknown: 'tell' });
    await waiting.finishEffect(attempt, 'card', { kind: 'done', result: '"paid"' });
    expect(await onReplica().effects(runId)).toMatchObject([{ name: 'card', state: 'done', result: '"paid"' }]);
    await waiting.finish(attempt, { kind: 'succeeded' });
    expect(await onReplica().readRun(runId)).toMatchObject({ state: 'succeeded' });
  });

  const steps = {
    claim: async () => {
      const request = await stage.request(9);
      return () => waiting.claim(request);
    },
    trigger: async () => () => waiting.trigger(stage.order()),
    pause: async () => () => waiting.pause('charge', { ...order(), until: null }),
    resume: async () => () => waiting.resume('charge'),
    redeliver: async () => {
      const delivery = await stage.delivery(await stage.enqueued(1));
      return () => waiting.redeliver(delivery, randomUUID());
    },
    begin: async () => {
      const request = stage.attempt(await stage.enqueued(1));
      return () => waiting.begin(request);
    },
    'begin of an effect': async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      return () => waiting.beginEffect(attempt, { name: 'card', ifUnknown: 'tell' });
    },
    'end of an effect': async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.beginEffect(attempt, 'card');
      return () => waiting.finishEffect(attempt, 'card', { kind: 'done', result: '1' });
    },
    'step of a list': async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      return () => waiting.advanceItems(attempt, 'mail', { finished: [], begun: ['ada'] });
    },
    finish: async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      return () => waiting.finish(attempt, { kind: 'succeeded' });
    },
    answer: async () => {
      const { runId } = await stage.uncertain(1);
      const request = await stage.answer(runId, 'done');
      return () => waiting.resolve(runId, request);
    },
    cancel: async () => {
      const runId = await stage.enqueued(1);
      return () => waiting.cancel(runId, { by: 'ada', graceMs: 0 });
    },
  };

  it.each(Object.keys(steps) as (keyof typeof steps)[])(
    'refuses what no replica acknowledges, and answers it when asked again after the replica is back: %s',
    async (name) => {
      const step = await steps[name]();
      servers.replicaServer.freeze();
      await expect(step()).rejects.toMatchObject(refusal);
      servers.replicaServer.thaw();
      await servers.untilReplicated();
      await step();
    },
  );

  it('reads, beats and confirms without waiting', async () => {
    const runId = await stage.claimed(1);
    const attempt = await stage.begun(runId);
    await servers.untilReplicated();
    servers.replicaServer.freeze();
    await waiting.confirm([runId]);
    expect(await waiting.heartbeat(attempt, LONG_MS)).toBe('extended');
    expect(await waiting.readCrons(['charge'])).toHaveLength(1);
    expect(await waiting.overdueAll(['charge'], { againMs: 1, keep: 9 })).toMatchObject([{ status: 'fulfilled' }]);
  });

  it('acknowledges no earlier write that the replica has never heard of, for a call that writes nothing', async () => {
    const request = await stage.request(1);
    servers.replicaServer.freeze();
    // By another connection: this one has nothing of its own to wait for.
    expect(await stage.ledger.claim(request)).toMatchObject({ verdict: 'claimed' });
    await expect(waiting.claim(request)).rejects.toThrow(NotReplicatedError);
    servers.replicaServer.thaw();
    await servers.untilReplicated();
    expect(await waiting.claim(request)).toMatchObject({ verdict: 'claimed' });
  });

  it('applies nothing more until the replica is back', async () => {
    const [first, second] = [stage.order(), stage.order()];
    servers.replicaServer.freeze();
    await expect(waiting.trigger(first)).rejects.toMatchObject(refusal);
    await expect(waiting.trigger(second)).rejects.toMatchObject(refusal);
    expect((await stage.ledger.runs('charge', 9)).map(({ id }) => id)).toEqual([first.runId]);
    servers.replicaServer.thaw();
    await servers.untilReplicated();
    expect(await waiting.trigger(second)).toMatchObject({ verdict: 'claimed' });
    expect(await waiting.trigger(first)).toMatchObject({ verdict: 'claimed' });
    expect(await stage.ledger.runs('charge', 9)).toHaveLength(2);
  });

  it.each([
    { replicas: 0, timeoutMs: 1 },
    { replicas: 1, timeoutMs: 0 },
  ])('is not made without an end or a replica: %j', (over) => {
    const { redis } = servers;
    expect(() => new RedisLedger({ redis, ...space, replication: { redis, ...over } })).toThrow(RangeError);
  });
});

/** Ends effects of a run until one is refused or all are done; the replica is cut off after the first. */
async function endedEffects(ledger: RedisLedger, runId: string): Promise<string[]> {
  const request = stage.attempt(runId);
  const begun = await ledger.begin(request);
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  const attempt = { runId, nonce: request.nonce, fence: begun.fence };
  const names = ['first', 'second', 'third'];
  for (const name of names) await ledger.beginEffect(attempt, { name, ifUnknown: 'tell' });
  await servers.untilReplicated();
  const ended: string[] = [];
  try {
    for (const name of names) {
      await ledger.finishEffect(attempt, name, { kind: 'done', result: '1' });
      ended.push(name);
      servers.link.swallow();
    }
  } catch (error) {
    if (!(error instanceof NotReplicatedError)) throw error;
  }
  return ended;
}

async function doneAfterFailover(runId: string): Promise<string[]> {
  await servers.promote();
  const effects = await onReplica().effects(runId);
  return effects.filter(({ state }) => state === 'done').map(({ name }) => name);
}

describe('a failover', () => {
  beforeEach(async () => {
    servers = await replicatedRedis();
    await setTheStage();
  });
  afterEach(() => servers.stop());

  it('keeps every run and effect that was acknowledged', async () => {
    const runId = await stage.enqueued(1);
    const ended = await endedEffects(waiting, runId);
    expect(ended).toEqual(['first']);
    expect(await doneAfterFailover(runId)).toEqual(ended);
    expect(await onReplica().readRun(runId)).toMatchObject({ state: 'running', attempt: 1 });
  });

  it('loses acknowledged effects of a ledger that waits for nobody', async () => {
    const runId = await stage.enqueued(1);
    expect(await endedEffects(stage.ledger as RedisLedger, runId)).toEqual(['first', 'second', 'third']);
    expect(await doneAfterFailover(runId)).not.toContain('third');
  });
});
