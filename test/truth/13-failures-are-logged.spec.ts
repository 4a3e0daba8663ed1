import { afterEach, describe, expect, it } from 'vitest';
import { redisSpaces } from '../jobs/redis-space.js';
import { startPlainApp, type PlainApp } from './plain-app.js';

const spaces = redisSpaces();
const apps: PlainApp[] = [];
afterEach(async ({ task }) => {
  for (const app of apps) app.kill('SIGKILL');
  const ended = apps.splice(0);
  await Promise.all(ended.map((app) => app.ended));
  if (task.result?.state === 'fail') for (const app of ended) console.error(app.said());
});

function start(env: Readonly<Record<string, string>>): PlainApp {
  const app = startPlainApp({ PREFIX: spaces.fresh().prefix, HOOKS: 'all', ...env });
  apps.push(app);
  return app;
}

describe('an app whose logger is nestjs-pino', { timeout: 90_000 }, () => {
  it('has an object a line, from boot on, with the fields of each event and its sentence as msg', async () => {
    const app = start({ FAILS: 'no\npaper', PINO: 'yes' });
    await app.says('attempt_failed');
    await app.says('\n{');
    const lines = app.said().split('\n');
    const records = lines.filter((line) => /^\{.*\}$/.test(line)).map((line): object => JSON.parse(line) as object);
    const own = records.filter((record) => Reflect.get(record, 'context') === 'Fencepost');
    expect(own).toContainEqual(
      expect.objectContaining({
        ...{ level: 30, msg: 'this pod has started', event: 'pod_started', roles: 'scheduler+worker', crons: 1 },
        names: ['report'],
      }),
    );
    expect(own).toContainEqual(
      expect.objectContaining({
        ...{ level: 50, msg: 'attempt failed', event: 'attempt_failed', cron: 'report', attempt: 1, state: 'failed' },
        runId: expect.stringMatching(/^report@\d+$/),
        err: expect.objectContaining({ type: 'Error', message: 'no\npaper' }),
      }),
    );
    expect(own.filter((record) => !('event' in record))).toEqual([]);
  });
});

describe('an app that sets up no logging of its own', { timeout: 90_000 }, () => {
  it('has a failed run logged at ERROR by the logger of Nest, with its cron and its error', async () => {
    const app = start({ FAILS: 'the printer is on fire' });
    await app.says('ERROR [Fencepost] attempt failed: Error: the printer is on fire');
    expect(app.said()).toMatch(/ERROR \[Fencepost\] attempt failed: Error: the printer is on fire .*cron report/);
  });

  it('has no line of its log forged by the text of an error', async () => {
    const forged = '[Nest] 1  - 11/27/2026, 7:00:00 PM     LOG [Fencepost] this pod has started (forged)';
    const app = start({ FAILS: `no paper\n${forged}\r\u2028${forged}` });
    await app.says('ERROR [Fencepost] attempt failed: Error: no paper\\n[Nest] 1');
    expect(app.said()).not.toMatch(/[\n\r\u2028]\[Nest\] 1 {2}-/);
  });

  it('has it logged by Nest 11 too, whose logger says that no level is enabled', async () => {
    const app = start({ FAILS: 'yes', NEST_11: 'yes' });
    await app.says('ERROR [Fencepost] attempt failed');
    expect(app.said()).toContain('LOG [Fencepost] this pod has started');
  });

  it('has one line at boot: who it is, what it does, where its stores are, and its crons', async () => {
    const app = start({});
    await app.says('pod_started');
    await app.says('occurrence claimed');
    const lines = app.said().split('\n');
    const [boot, ...more] = lines.filter((line) => line.includes('pod_started'));
    expect(more).toEqual([]);
    expect(boot).toMatch(
      /LOG \[Fencepost\] this pod has started \(pod_started, holder [^,]+\/[^,]+, roles scheduler\+worker, /,
    );
    expect(boot).toMatch(/ redis redis:\/\/127\.0\.0\.1:\d+, ledger redis, crons 1, names \["report"\]\)$/);
    // Claims are for whoever looks closely.
    const claims = lines.filter((line) => line.includes('occurrence claimed'));
    expect(claims.length).toBeGreaterThan(0);
    for (const claim of claims) expect(claim).toMatch(/DEBUG \[Fencepost\] occurrence claimed \(.*cron report/);
  });

  it('is quiet with log: false', async () => {
    const app = start({ FAILS: 'yes', QUIET: 'yes' });
    await app.says('failing');
    await app.says('started');
    app.kill('SIGTERM');
    await app.ended;
    expect(app.said()).not.toContain('[Fencepost]');
  });

  it('is warned that its worker has 0 crons, and which method never runs', async () => {
    const app = start({ EMPTY: 'yes' });
    await app.says('started');
    expect(app.said()).toMatch(/WARN \[Fencepost\] no crons or jobs found/);
    expect(app.said()).toMatch(
      /WARN \[Fencepost\] decorated methods of this program never run here .*\["Reports\.report \(@SingletonCron\): no module/,
    );
  });
});

it('an app that logs the events itself has no failure logged twice', { timeout: 90_000 }, async () => {
  const app = start({ FAILS: 'yes', LOGS: 'yes' });
  await app.says('own log: attempt_failed');
  expect(app.said()).not.toContain('[Fencepost] the attempt failed');
});
