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
  const app = startPlainApp({ PREFIX: spaces.fresh().prefix, HOOKS: 'yes', ...env });
  apps.push(app);
  return app;
}

describe('an app that sets up no logging of its own', { timeout: 90_000 }, () => {
  it('has a failed run logged at ERROR by the logger of Nest, with its cron and its error', async () => {
    const app = start({ FAILS: 'yes' });
    await app.says('the printer is on fire');
    expect(app.said()).toMatch(/ERROR \[Fencepost\] attempt failed: Error: the printer is on fire .*cron report/);
  });

  it('is warned that its worker has 0 crons', async () => {
    const app = start({ EMPTY: 'yes' });
    await app.says('started');
    expect(app.said()).toMatch(/WARN \[Fencepost\] no crons or jobs found/);
  });
});

it('an app that logs the events itself has no failure logged twice', { timeout: 90_000 }, async () => {
  const app = start({ FAILS: 'yes', LOGS: 'yes' });
  await app.says('own log: attempt_failed');
  expect(app.said()).not.toContain('[Fencepost] the attempt failed');
});
