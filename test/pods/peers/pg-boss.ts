import { Report, say, told } from './report.js';

/**
 * pg-boss with every interval as short as it may be. A job of a schedule isn't told its instant, so there is one schedule for
 * each second of the minute, whose data says which one it is; the minute is that in which the job was made.
 */
interface Job {
  readonly data: { readonly second: number };
  readonly createdOn: Date;
}

interface Boss {
  on(event: 'error', listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean; timeout: number }): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  schedule(name: string, cron: string, data: object, options: object): Promise<void>;
  work(name: string, options: object, handler: (jobs: readonly Job[]) => Promise<void>): Promise<string>;
}

// It needs a younger node than the rest: it isn't looked for where it is only compiled.
const PACKAGE: string = 'pg-boss';
const MINUTE_MS = 60_000;
const { databaseUrl, lockMs } = told();
const report = new Report();
const { PgBoss } = (await import(PACKAGE)) as { PgBoss: new (options: object) => Boss };
const boss = new PgBoss({
  ...{ connectionString: databaseUrl, max: 5 },
  ...{ cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 },
  ...{ superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 },
});
boss.on('error', ({ message }) => say({ event: 'boss_error', message }));
await boss.start();

await boss.createQueue('report', {
  // Nobody may be at a job for longer: what a dead process had is given to somebody else then.
  ...{ expireInSeconds: lockMs / 1_000 },
  ...{ retryLimit: 10, retryDelay: 1, retryBackoff: false },
});
await boss.work('report', { pollingIntervalSeconds: 0.5, batchSize: 1, includeMetadata: true }, async (jobs) => {
  for (const { data, createdOn } of jobs) await report.make(instantOf(data.second, createdOn.getTime()));
});

/** The latest instant with this second of the minute that was over when the job was made. */
function instantOf(second: number, madeAt: number): number {
  const inThisMinute = Math.floor(madeAt / MINUTE_MS) * MINUTE_MS + second * 1_000;
  return inThisMinute <= madeAt ? inThisMinute : inThisMinute - MINUTE_MS;
}

process.once('SIGTERM', () => {
  void boss.stop({ graceful: true, timeout: 10_000 }).then(() => report.close());
});

// One replica after the other may write them: they are the same.
for (let second = 0; second < 60; second += 1) {
  await boss.schedule('report', `${second} * * * * *`, { second }, { key: `second-${second}`, missed: 'all' });
}
say({ msg: 'pg-boss listens on its queue' });
