import { LeaseKeeper } from '@fencepost/lease/internal';
import { MemoryLeaseStore, ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { LazyAbort } from './running/lazy-abort.js';
import { MemoryMembership } from './membership/memory-membership.js';
import { Telemetry } from './telemetry/telemetry.js';
import { RunNotifier } from './notifying/run-notifier.js';
import { SignalDrain } from './nest/signal-drain.js';
import { withinLimits } from './running/within-limits.js';
import { CatalogMembership } from './membership/catalog-membership.js';
import { recordedEvents, type RecordedEvents } from '../../../test/support/recorded.js';
import { CRON, RUN, RUN_LEASE_MS, WorkerStage } from '../../../test/support/worker-stage.js';

const BUG = new TypeError("Cannot read properties of undefined (reading 'x')");
const fails = () => Promise.reject(BUG);

let clock: ManualClock;
let telemetry: Telemetry;
let events: RecordedEvents;
beforeEach(() => {
  [clock, telemetry] = [new ManualClock(0), new Telemetry()];
  events = recordedEvents(telemetry);
});

function expectBug(heard: RecordedEvents, about: object): void {
  expect(heard.of('program.failed')).toEqual([{ ...about, err: BUG }]);
  expect([...heard.of('store.failed'), ...heard.of('queue.failed')]).toEqual([]);
}

describe('a bug', () => {
  it("that shows when a heartbeat asks for the catalog's version is told with its stack, and the pod still beats", async () => {
    const membership = new MemoryMembership({ clock, version: () => 1 });
    const beating = new CatalogMembership({ membership, catalog: { readVersion: fails }, clock, telemetry });
    expect(await beating.heartbeat('pod')).toMatchObject({ catalogVersion: null });
    expectBug(events, { operation: 'catalog.read-version' });
  });

  it('that shows when a run leaves the line of its key is told with its stack, and the run is settled', async () => {
    const stage = await WorkerStage.with({ payload: '{"customer":"ada"}' });
    await stage.memoryLedger.cancel(RUN, { by: 'ada', graceMs: 0 });
    const deps = {
      ...{ ledger: stage.ledger.port, clock: stage.manual, telemetry: stage.telemetry, random: () => 0 },
      ...{
        worker: 'worker/1',
        ttlMs: RUN_LEASE_MS,
        handlerOf: () => undefined,
        limiter: { admit: fails, leave: fails },
      },
    };
    const handler = {
      handle: () => {},
      retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 },
      limits: { key: () => 'ada' },
    };
    const delivery = { runId: RUN, givenUp: new LazyAbort(), log: () => {}, progress: async () => {} };
    const attempt = () => Promise.reject(new Error('Expected no attempt.'));
    const disposition = await withinLimits(deps, { delivery, found: { name: 'report', handler }, attempt });
    expect(disposition).toEqual({ kind: 'settled' });
    expectBug(stage.events, { operation: 'wait-queue.leave', cron: CRON, runId: RUN });
  });

  it('that shows while a process drains is told with its stack, and the other steps are taken', async () => {
    const drain = new SignalDrain();
    const keeper = new LeaseKeeper({ store: new MemoryLeaseStore({ clock }), clock, holder: 'pod/1' });
    Object.assign(drain, { telemetry, keeper, clock });
    const steps: string[] = [];
    drain.add(fails);
    drain.add(async () => void steps.push('the next'));
    await drain.drain();
    expect(steps).toEqual(['the next']);
    expectBug(events, { operation: 'pod.drain' });
  });

  it('that shows while notifications are handed on is told with its stack, and not as trouble of the queue', async () => {
    const ledger = Object.assign(new MemoryLedger(clock), { notifications: fails });
    const notifier = new RunNotifier({ ledger, queue: { enqueue: async () => {} }, telemetry, webhooks: [] });
    notifier.drain('report');
    await notifier.stop();
    expectBug(events, { operation: 'notification.enqueue', cron: 'report' });
  });
});
