import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { JobHandler, SingletonCron } from '@fencepost/jobs';
import type { IfUnknown } from '@fencepost/jobs';
import type { RunContext } from '@fencepost/jobs';
import { expectRun, testJobs, type TestJobs } from './index.js';

@Injectable()
class Provider {
  readonly charged: string[] = [];
  trouble = 0;

  charge(key: string): { receipt: number } {
    this.charged.push(key);
    return { receipt: this.charged.length };
  }
}

@Injectable()
class Billing {
  ifUnknown: IfUnknown<{ receipt: number }> = 'retry';

  constructor(readonly provider: Provider) {}

  @SingletonCron('0 3 * * *', { name: 'billing', timeZone: 'Europe/Berlin', retry: { delay: '10s' } })
  async bill(run: RunContext): Promise<void> {
    const charge = ({ idempotencyKey }: { idempotencyKey: string }) => this.provider.charge(idempotencyKey);
    const { receipt } = await run.effect('charge', charge, { ifUnknown: this.ifUnknown });
    if (this.provider.trouble-- > 0) throw new Error('the mail server is away');
    await run.effect('mail', () => `sent ${receipt}`);
    run.log.info(`receipt ${receipt}`);
  }
}

@Injectable()
class Minutes {
  readonly seen: string[] = [];
  busyUntil: Promise<void> = Promise.resolve();

  @SingletonCron('* * * * *', { name: 'minutes', misfire: 'fire-once' })
  async tick(run: RunContext): Promise<void> {
    this.seen.push(run.scheduledAt.toISOString().slice(11, 16));
    await this.busyUntil;
  }
}

class Polls {
  readonly seen: string[] = [];

  @SingletonCron({ name: 'polls', every: '45s' })
  poll(run: RunContext): void {
    this.seen.push(run.scheduledAt.toISOString().slice(11, 19));
  }
}

let kit: TestJobs;
afterEach(() => expect(kit.clock.pending).toBe(0));

async function billing(): Promise<Billing> {
  const cron = new Billing(new Provider());
  kit = await testJobs({ crons: [cron] });
  return cron;
}

describe('the test kit', () => {
  it('fires the next instant and tells what became of the run', async () => {
    const { provider } = await billing();
    const run = await kit.fire('billing');
    expectRun(run).succeeded();
    expect(run).toMatchObject({
      id: `billing@${Date.parse('2030-01-01T02:00Z')}`,
      effects: [
        { name: 'charge', state: 'done', result: { receipt: 1 } },
        { name: 'mail', result: 'sent 1' },
      ],
      log: [{ level: 'info', message: 'receipt 1', attempt: 1 }],
    });
    expect(run.effect('charge')?.result).toEqual({ receipt: 1 });
    expect(provider.charged).toEqual([`${run.id}/charge`]);
    expect((await kit.fire('billing')).scheduledAt).toBe(Date.parse('2030-01-02T02:00Z'));
  });

  it('fires the instant it is told to, writes those before it off, and refuses one that is over', async () => {
    await billing();
    const run = await kit.fire('billing', '2030-01-05T02:00Z');
    expectRun(run).succeeded();
    expect(await kit.runs('billing')).toHaveLength(1);
    expect(await kit.ledger.skips('billing', 9)).toMatchObject([{ reason: 'misfire' }]);
    await expect(kit.fire('billing', '2030-01-04T02:00Z')).rejects.toThrow('Expected an instant of "billing" after');
    await expect(kit.fire('biling')).rejects.toThrow('"billing"');
  });

  it('works on the providers of a Nest testing module', async () => {
    const app = await Test.createTestingModule({ providers: [Billing, Provider] }).compile();
    kit = await testJobs({ crons: [app] });
    expectRun(await kit.fire('billing')).succeeded();
    expect(app.get(Provider).charged).toHaveLength(1);
  });

  it('fires what is due when the clock is turned, as a scheduler does', async () => {
    const minutes = new Minutes();
    kit = await testJobs({ crons: [minutes, new Billing(new Provider())] });
    await kit.advance('3m');
    expect(minutes.seen).toEqual(['00:01', '00:02', '00:03']);
    await kit.operator.pause('minutes', { by: 'ada', reason: 'maintenance' });
    await kit.advance('2h');
    expect([minutes.seen.length, (await kit.runs('billing')).length]).toEqual([3, 1]);
    await kit.operator.resume('minutes', { by: 'ada', reason: 'done' });
    await kit.advance('1m');
    expect(minutes.seen.at(-1)).toBe('02:04');
  });

  it('runs an interval at its multiples, wherever the clock stood when it started', async () => {
    const cron = new Polls();
    kit = await testJobs({ crons: [cron], startsAt: '2030-01-01T00:00:10Z' });
    await kit.advance('3m');
    expect(cron.seen).toEqual(['00:00:45', '00:01:30', '00:02:15', '00:03:00']);
  });

  it('skips an instant whose predecessor still runs, as configured', async () => {
    const minutes = new Minutes();
    let goOn = () => {};
    minutes.busyUntil = new Promise((resolve) => (goOn = resolve));
    kit = await testJobs({ crons: [minutes], patienceMs: 10 });
    await kit.advance('2m');
    expect((await kit.runs('minutes')).map(({ state, skipped }) => [state, skipped])).toEqual([
      ['skipped', 'overlap'],
      ['running', null],
    ]);
    goOn();
    await kit.advance('1m');
    expect((await kit.runs('minutes')).map(({ state }) => state)).toEqual(['succeeded', 'skipped', 'succeeded']);
  });

  it('tries a run that failed again when its time has come', async () => {
    const { provider } = await billing();
    provider.trouble = 1;
    const run = await kit.fire('billing');
    expect([run.state, run.error]).toEqual(['enqueued', 'Error: the mail server is away']);
    await kit.drain();
    expectRun(await kit.run(run)).succeeded();
    expect(await kit.run(run)).toMatchObject({ attempt: 2, effects: [{ result: { receipt: 1 } }, {}] });
    expect(provider.charged).toHaveLength(1);
  });

  it('runs what somebody asks for', async () => {
    await billing();
    const reply = await kit.operator.trigger('billing', { by: 'ada' });
    await kit.drain();
    if (reply.verdict !== 'claimed') throw new Error(`Expected a run, got ${reply.verdict}.`);
    expectRun(await kit.run(reply.runId)).succeeded();
  });

  it('says what a run says of itself when it is not as expected', async () => {
    const { provider } = await billing();
    provider.trouble = 1;
    const run = await kit.fire('billing');
    expect(() => expectRun(run).succeeded()).toThrow(
      /to be succeeded, got enqueued.*mail server is away.*Effects: charge done.*error Error: the mail/s,
    );
    expect(() => expectRun(run).failed()).toThrow('to be failed');
    await kit.drain();
    await expect(kit.run('billing@1')).rejects.toThrow('Expected the id of a run');
  });
});

describe('a worker that comes to harm in the test kit', () => {
  it('writes nothing more once it is killed, and another one takes over the run', async () => {
    const { provider } = await billing();
    const crash = kit.crash.afterEffect('charge');
    const run = await kit.fire('billing');
    expect([run.state, crash.reached, run.effect('charge')?.state]).toEqual(['running', true, 'begun']);
    await kit.advance('29s');
    expect((await kit.run(run)).attempt).toBe(1);
    await kit.advance('31s');
    expectRun(await kit.run(run)).succeeded();
    expect(provider.charged).toEqual([`${run.id}/charge`, `${run.id}/charge`]);
    expect((await kit.run(run)).attempt).toBe(2);
  });

  it.each([
    ['afterBegin', 0, 1],
    ['beforeEffect', 0, 1],
    ['afterEffect', 1, 2],
    ['beforeFinish', 1, 1],
  ] as const)('at %s has charged %i times, and all in all %i', async (point, before, after) => {
    const { provider } = await billing();
    kit.crash[point]('charge');
    const run = await kit.fire('billing');
    expect([run.state, provider.charged.length]).toEqual(['running', before]);
    await kit.drain();
    expectRun(await kit.run(run)).succeeded();
    expect(provider.charged).toHaveLength(after);
  });

  it('leaves a question, and the answer of a person ends it', async () => {
    const cron = await billing();
    cron.ifUnknown = 'ask';
    kit.crash.afterEffect('charge');
    const run = await kit.fire('billing');
    await kit.drain();
    expectRun(await kit.run(run)).asks('charge');
    const answered = await kit.resolve(run, 'done', { receipt: 7 });
    expectRun(answered).succeeded();
    expect(answered.effect('mail')?.result).toBe('sent 7');
    expect(cron.provider.charged).toHaveLength(1);
    await expect(kit.resolve(run, 'not-done')).rejects.toThrow('Expected an uncertain run, got one that is succeeded');
  });

  it('goes on after a freeze and changes nothing', async () => {
    const { provider } = await billing();
    const frozen = kit.freeze.afterEffect('charge');
    const run = await kit.fire('billing');
    await kit.drain();
    expectRun(await kit.run(run)).succeeded();
    await frozen.thaw();
    expect((await kit.run(run)).effect('charge')?.result).toEqual({ receipt: 2 });
    expect(provider.charged).toHaveLength(2);
    expect((await kit.ledger.readCron('billing')).refusals).toBeGreaterThan(0);
  });

  it('does nothing twice after a lost reply', async () => {
    const { provider } = await billing();
    const lost = kit.loseReply('finishEffect', 'charge');
    const run = await kit.fire('billing');
    expect([run.state, lost.reached]).toEqual(['running', true]);
    await kit.advance('5s');
    expectRun(await kit.run(run)).succeeded();
    expect(provider.charged).toHaveLength(1);
  });
});

class Syncs {
  readonly from: unknown[] = [];

  @SingletonCron('0 * * * *', { name: 'sync', retry: { delay: '10s' } })
  async sync(run: RunContext): Promise<{ readonly cursor: number }> {
    const previous = await run.previous();
    this.from.push(previous?.result ?? null);
    return { cursor: run.scheduledAt.getUTCHours() };
  }

  @JobHandler('double')
  double(run: RunContext): unknown {
    return run.payload === 'much' ? 'x'.repeat(20_000) : Number(run.payload) * 2;
  }
}

describe('a result in the test kit', () => {
  it('is shown with its run, and found by the next one, also after the worker was lost', async () => {
    const syncs = new Syncs();
    kit = await testJobs({ crons: [syncs] });
    expect((await kit.fire('sync')).result).toEqual({ cursor: 1 });
    expect((await kit.fire('sync')).result).toEqual({ cursor: 2 });
    kit.crash.beforeFinish();
    const lost = await kit.fire('sync');
    await kit.drain();
    expect(await kit.run(lost)).toMatchObject({ state: 'succeeded', attempt: 2, result: { cursor: 3 } });
    expect(syncs.from).toEqual([null, { cursor: 1 }, { cursor: 2 }, { cursor: 2 }]);
  });

  it('is waited for by the code under test, while the test lets time pass', async () => {
    kit = await testJobs({ crons: [new Syncs()] });
    const asked = kit.jobs.enqueue('double', 21).then((run) => run.result());
    await kit.advance('1s');
    await kit.drain();
    await kit.advance('1s');
    expect(await asked).toBe(42);
  });

  it('that is too large is left out, and said in the log of its run', async () => {
    kit = await testJobs({ crons: [new Syncs()] });
    const run = await kit.enqueue('double', 'much');
    expectRun(run).succeeded();
    expect(run).toMatchObject({
      result: null,
      log: [{ level: 'warn', message: 'the result was not kept: it is larger than 16 KiB (20002 bytes)' }],
    });
  });
});
