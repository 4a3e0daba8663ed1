import { describe, expect, it, type TestContext } from 'vitest';
import { RedisLedger } from '@fencepost/ledger/redis';
import { until } from '../support/until.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { startPlainApp } from './plain-app.js';

const spaces = redisSpaces();

type Finishing = Pick<TestContext, 'onTestFinished' | 'onTestFailed'>;

/** One of several at a time: each waits for its own cron most of the time. */
function start(env: Readonly<Record<string, string>>, { onTestFinished, onTestFailed }: Finishing) {
  const { prefix } = spaces.fresh();
  const app = startPlainApp({ PREFIX: prefix, ...env });
  onTestFinished(async () => {
    app.kill('SIGKILL');
    await app.ended;
  });
  onTestFailed(() => console.error(app.said()));
  return { app, ledger: new RedisLedger({ redis: spaces.redis(), prefix, tenant: 'default' }) };
}

const UNHOOKED = 'shutdown hooks are off';
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const;

/** Nothing is half done: the newest run has ended well, and so has its effect. */
async function expectAllDone(ledger: RedisLedger): Promise<void> {
  const runs = await ledger.runs('report', 10);
  const states = new Set(runs.map(({ state }) => state));
  expect(states).toContain('succeeded');
  expect(states).not.toContain('running');
  const succeeded = runs.filter(({ state }) => state === 'succeeded');
  const effects = await Promise.all(succeeded.map(({ id }) => ledger.effects(id)));
  expect(effects.flat().map(({ state }) => state)).toEqual(succeeded.map(() => 'done'));
}

describe('an app without shutdown hooks', { timeout: 90_000 }, () => {
  it.concurrent.for(SIGNALS)('finishes its run on %s, and then ends by it', async (signal, context) => {
    const { app, ledger } = start({}, context);
    await app.says('printing');
    app.kill(signal);
    expect(await app.ended).toEqual({ code: null, signal });
    expect(app.said()).toContain('printed report@');
    await expectAllDone(ledger);
  });

  it.concurrent('warns at boot', async (context) => {
    const { app } = start({}, context);
    expect(await app.says(UNHOOKED)).toBe(true);
  });

  it.concurrent(
    'takes two signals at once for one: npm passes on the Ctrl-C that the terminal has sent',
    async (context) => {
      const { app, ledger } = start({}, context);
      await app.says('printing');
      app.kill('SIGINT');
      app.kill('SIGINT');
      app.kill('SIGTERM');
      expect(await app.ended).toEqual({ code: null, signal: 'SIGINT' });
      expect(app.said()).toContain('printed report@');
      await expectAllDone(ledger);
    },
  );

  it.concurrent('ends at once by a later signal of the same kind, as by Ctrl-C twice', async (context) => {
    const { app, ledger } = start({ PRINTS_MS: '60000' }, context);
    await app.says('printing');
    const since = performance.now();
    let isOver = false;
    void app.ended.then(() => (isOver = true));
    await until('the app has ended', () => {
      app.kill('SIGINT');
      return Promise.resolve(isOver);
    });
    expect(await app.ended).toEqual({ code: null, signal: 'SIGINT' });
    // The drain deadline is 10 s.
    expect(performance.now() - since).toBeLessThan(9_000);
    expect(app.said()).not.toContain('printed report@');
    expect((await ledger.runs('report', 10)).map(({ state }) => state)).toContain('running');
  });
});

describe('an app with shutdown hooks', { timeout: 90_000 }, () => {
  it.concurrent.for(SIGNALS)('is not warned, and drains as Nest stops it on %s', async (signal, context) => {
    const { app, ledger } = start({ HOOKS: 'all' }, context);
    await app.says('printed report@');
    expect(app.said()).not.toContain(UNHOOKED);
    app.kill(signal);
    expect(await app.ended).toEqual({ code: null, signal });
    await expectAllDone(ledger);
  });

  it.concurrent.for(['SIGINT', 'SIGTERM'] as const)('for SIGTERM alone drains on %s, too', async (signal, context) => {
    const { app, ledger } = start({ HOOKS: 'SIGTERM' }, context);
    await app.says('printing');
    app.kill(signal);
    expect(await app.ended).toEqual({ code: null, signal });
    expect(app.said()).toContain('printed report@');
    await expectAllDone(ledger);
  });
});
