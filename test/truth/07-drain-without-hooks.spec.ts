import { afterEach, describe, expect, it } from 'vitest';
import { RedisLedger } from '@fencepost/ledger/redis';
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

function start(env: Readonly<Record<string, string>>) {
  const { prefix } = spaces.fresh();
  const app = startPlainApp({ PREFIX: prefix, ...env });
  apps.push(app);
  return { app, ledger: new RedisLedger({ redis: spaces.redis(), prefix, tenant: 'default' }) };
}

const UNHOOKED = 'shutdown hooks are off';

describe('an app without shutdown hooks', { timeout: 90_000 }, () => {
  it('warns at boot, finishes its run on SIGTERM, and then ends by the signal', async () => {
    const { app, ledger } = start({});
    await app.says(UNHOOKED);
    await app.says('printing');
    app.kill('SIGTERM');
    expect(await app.ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect(app.said()).toContain('printed report@');
    const runs = await ledger.runs('report', 10);
    const states = new Set(runs.map(({ state }) => state));
    expect(states).toContain('succeeded');
    expect(states).not.toContain('running');
    expect((await ledger.effects(runs.at(-1)?.id ?? '')).map(({ state }) => state)).toEqual(['done']);
  });
});

describe('an app with shutdown hooks', { timeout: 90_000 }, () => {
  it('is not warned, and drains as Nest stops it', async () => {
    const { app, ledger } = start({ HOOKS: 'yes' });
    await app.says('printed report@');
    expect(app.said()).not.toContain(UNHOOKED);
    app.kill('SIGTERM');
    expect(await app.ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect((await ledger.runs('report', 10)).map(({ state }) => state)).not.toContain('running');
  });
});
