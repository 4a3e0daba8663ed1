import { until } from '../support/until.js';
import type { Stage } from './stage.js';

/** What somebody may have put into an error, or into an address. */
export const MARKUP = '<img src=x onerror=alert(1)>';

/** Ids of runs worth a look. */
export interface Setup {
  readonly asking: string;
  readonly failed: string;
  readonly done: string;
}

const PATIENCE_MS = 60_000;
const BY = { by: 'anna', reason: 'the mail server moves' };

/** A deployment as one may find it: crons of each state, runs that went well, one that failed, one that asks. */
export async function setUp(stage: Stage): Promise<Setup> {
  const { pods, stores } = stage.deployment;
  await Promise.all([
    pods.worker('worker', { env: { CRONS: 'shown' } }),
    pods.scheduler('scheduler-2'),
    declare(stage),
  ]);
  await stores.operator.pause('invoice-mail', BY);
  await stores.crons.remove('old-export', { by: 'anna', reason: 'replaced by nightly-export' });
  const [asking, failed, done] = [
    await stage.trigger('newsletter', 'anna'),
    await stage.trigger('label-print', 'otto'),
    await stage.trigger('nightly-export', 'anna'),
  ];
  await Promise.all([
    stage.comesTo(asking, 'uncertain'),
    stage.comesTo(failed, 'failed'),
    stage.comesTo(done, 'succeeded'),
  ]);
  await runsOfCacheWarm(stage, 3);
  return { asking, failed, done };
}

/** Enough for a picture of it: runs, a pause, and runs again. */
export async function letItRun(stage: Stage): Promise<void> {
  const { operator, ledger } = stage.deployment.stores;
  await runsOfCacheWarm(stage, 20);
  const pause = await operator.pause('cache-warm', BY);
  await until(
    'some instants went by',
    async () => ((await ledger.readCron('cache-warm')).cursor ?? 0) > pause.since + 6_000,
  );
  await operator.resume('cache-warm', BY);
  await runsOfCacheWarm(stage, 35);
}

/** What fires each second leaves nothing else to see of the day. */
export async function leaveOutCacheWarm({ deployment: { stores } }: Stage): Promise<void> {
  await stores.crons.remove('cache-warm', BY);
}

async function runsOfCacheWarm(stage: Stage, least: number): Promise<void> {
  const ran = async () => {
    const runs = await stage.deployment.runsOf('cache-warm');
    return runs.filter(({ state }) => state === 'succeeded').length >= least;
  };
  await until(`cache-warm has ${least} runs`, ran, PATIENCE_MS);
}

async function declare(stage: Stage): Promise<void> {
  const berlin = { timeZone: 'Europe/Berlin' };
  await stage.cron('nightly-export', { handler: 'lasting', expression: '30 2 * * *', ...berlin });
  await stage.cron('invoice-mail', { handler: 'lasting', expression: '0 8 1 * *', ...berlin });
  await stage.cron('newsletter', { handler: 'asking', expression: '0 9 * * 1', timeZone: 'America/New_York' });
  await stage.cron('label-print', {
    handler: 'failing',
    expression: '*/30 * * * *',
    payload: { text: `No paper: ${MARKUP}` },
  });
  await stage.cron('cache-warm', { handler: 'lasting', expression: '* * * * * *' });
  await stage.cron('price-feed', { handler: 'lasting', expression: '*/3 6-18 * * *' });
  await stage.cron('old-export', { handler: 'lasting', expression: '0 1 * * *' });
  for (const part of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await stage.cron(`stock-sync-${part}`, { handler: 'lasting', expression: '0 * * * *' });
  }
}
