import { LeaseLostError } from '@fencepost/lease';
import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, TTL_MS } from '../../../../test/support/scheduler-stage.js';
import { Campaign, type Hold } from './campaign.js';

const running: { stage: SchedulerStage; campaign: Campaign }[] = [];
afterEach(async () => {
  const ended = running.splice(0);
  await Promise.all(ended.map(({ campaign }) => campaign.stop()));
  for (const { stage } of ended) expect(stage.clock.pending).toBe(0);
});

const untilOver: Hold = ({ signal }) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

function campaigning(stage: SchedulerStage, hold: Hold = untilOver) {
  const pod = stage.pod(`pod-${running.length}`);
  const { clock, telemetry, keeper, ledger, events } = pod;
  const campaign = new Campaign(CRON, { ledger, keeper, clock, telemetry, random: () => 0, ttlMs: TTL_MS }, hold);
  campaign.start();
  running.push({ stage, campaign });
  return { campaign, keeper, events };
}

async function holder(stage: SchedulerStage): Promise<string | undefined> {
  const [holding] = await stage.leases.port.inspect([CRON]);
  return holding?.holder;
}

describe('a campaign', () => {
  it('holds a free cron and keeps it', async () => {
    const stage = new SchedulerStage();
    const { events } = campaigning(stage);
    await stage.clock.advance(10 * TTL_MS);
    expect(await holder(stage)).toBe('pod-0/1');
    expect(events.names).toEqual(['lease.acquired']);
  });

  it('asks for a fence above the highest the ledger has accepted', async () => {
    const stage = new SchedulerStage();
    const accepted = 8_000_000_000_000_000;
    await stage.clock.advance(1_000);
    await stage.pod().dispatcher.dispatch([stage.heldCron(accepted)]);
    const { events } = campaigning(stage);
    await stage.clock.advance(0);
    expect(events.of('lease.acquired')).toMatchObject([{ fence: accepted + 1 }]);
  });

  it('takes over at once when it hears that the holder has released', async () => {
    const stage = new SchedulerStage();
    const first = campaigning(stage);
    await stage.clock.advance(0);
    const second = campaigning(stage);
    await stage.clock.advance(100);
    expect(second.events.names).toEqual([]);
    await first.campaign.stop();
    second.campaign.wake();
    await stage.clock.advance(0);
    expect(second.events.names).toEqual(['lease.acquired']);
  });

  it('takes over without hearing anything when the lease of a dead holder has run out', async () => {
    const stage = new SchedulerStage();
    await stage.leases.port.acquire({
      resource: CRON,
      nonce: 'dead',
      holder: 'dead/1',
      ttlMs: TTL_MS,
      floor: 0 as never,
    });
    const { events } = campaigning(stage);
    await stage.clock.advance(TTL_MS - 1);
    expect(events.names).toEqual([]);
    await stage.clock.advance(1);
    expect(events.names).toEqual(['lease.acquired']);
  });

  it('asks once for each time it is woken, and waits again while the cron is held', async () => {
    const stage = new SchedulerStage();
    campaigning(stage);
    await stage.clock.advance(0);
    const second = campaigning(stage);
    await stage.clock.advance(0);
    stage.leases.calls.length = 0;
    second.campaign.wake();
    await stage.clock.advance(100);
    expect(stage.leases.calls).toEqual(['acquire']);
  });

  it('does not miss a release that is announced while its own question is on its way', async () => {
    const stage = new SchedulerStage();
    const first = campaigning(stage);
    await stage.clock.advance(0);
    let answer = () => {};
    stage.leases.next('acquire', { heldBack: new Promise((resolve) => (answer = resolve)) });
    const second = campaigning(stage);
    await stage.clock.advance(0);
    await first.campaign.stop();
    second.campaign.wake();
    answer();
    await stage.clock.advance(0);
    expect(second.events.names).toEqual(['lease.acquired']);
  });

  it('tells that it lost its lease, and campaigns again', async () => {
    const stage = new SchedulerStage();
    const { events } = campaigning(stage);
    await stage.clock.advance(0);
    stage.clock.jumpWall(60_000);
    await stage.clock.advance(TTL_MS);
    expect(events.of('lease.lost')).toMatchObject([{ cause: expect.stringContaining('clock') }]);
    expect(events.names).toEqual(['lease.acquired', 'lease.lost', 'lease.acquired']);
  });

  it('gives up a term that its holder wants to end, and waits before the next: the reason may still be there', async () => {
    const stage = new SchedulerStage();
    const { events } = campaigning(stage, async () => {});
    await stage.clock.advance(60_000);
    const terms = events.of('lease.acquired').length;
    expect(terms).toBeGreaterThan(10);
    expect(terms).toBeLessThan(60);
    expect(events.of('lease.released').length).toBe(terms);
  });

  it('asks again with growing pauses while the store is away', async () => {
    const stage = new SchedulerStage();
    stage.ledger.down();
    const { events } = campaigning(stage);
    await stage.clock.advance(60_000);
    expect(events.of('store.trouble').length).toBeLessThan(60);
    expect(events.of('store.trouble')[0]).toMatchObject({ doing: `campaign for ${CRON}` });
    stage.ledger.heal();
    await stage.clock.advance(TTL_MS / 3);
    expect(events.names.at(-1)).toBe('lease.acquired');
  });

  it('gives its term up when it is stopped', async () => {
    const stage = new SchedulerStage();
    const { campaign, events } = campaigning(stage);
    await stage.clock.advance(1_000);
    await campaign.stop();
    expect(await holder(stage)).toBeUndefined();
    expect(events.names).toEqual(['lease.acquired', 'lease.released']);
    expect(stage.clock.pending).toBe(0);
  });

  it('gives back without acting what it is granted after the stop', async () => {
    const stage = new SchedulerStage();
    let [answer, held] = [() => {}, 0];
    stage.leases.next('acquire', { heldBack: new Promise((resolve) => (answer = resolve)) });
    const { campaign } = campaigning(stage, async () => void (held += 1));
    await stage.clock.advance(0);
    const stopped = campaign.stop();
    answer();
    await stopped;
    expect(held).toBe(0);
    expect(await holder(stage)).toBeUndefined();
  });

  it('leaves its term to the shutdown when it is halted, which releases all of the pod at once', async () => {
    const stage = new SchedulerStage();
    const { campaign, keeper, events } = campaigning(stage);
    await stage.clock.advance(1_000);
    campaign.halt();
    await stage.clock.advance(0);
    expect(await holder(stage)).toBe('pod-0/1');
    await keeper.releaseAll();
    await campaign.stop();
    expect(await holder(stage)).toBeUndefined();
    expect(stage.leases.calls.filter((call) => call === 'release')).toHaveLength(1);
    expect(events.of('lease.lost')).toEqual([]);
  });

  it('calls nothing lost that its pod has released', async () => {
    const stage = new SchedulerStage();
    const { keeper, events } = campaigning(stage);
    await stage.clock.advance(0);
    await keeper.releaseAll();
    await stage.clock.advance(0);
    expect(events.names).toEqual(['lease.acquired', 'lease.released']);
  });

  it('stops also while a release does not get through', async () => {
    const stage = new SchedulerStage();
    const { campaign, events } = campaigning(stage);
    await stage.clock.advance(0);
    stage.leases.next('release', 'fail');
    await campaign.stop();
    expect(events.of('store.trouble')).toMatchObject([{ doing: `release of ${CRON}` }]);
  });

  it('hands its holder a signal that says why the term is over', async () => {
    const stage = new SchedulerStage();
    let reason: unknown;
    campaigning(stage, async (held) => {
      await untilOver(held);
      reason ??= held.signal.reason;
    });
    await stage.clock.advance(0);
    stage.clock.jumpWall(60_000);
    await stage.clock.advance(TTL_MS);
    expect(reason).toBeInstanceOf(LeaseLostError);
  });
});
