import { redisKeys } from '@fencepost/lease/internal/redis';
import { describe, expect, it } from 'vitest';
import { CronCatalog } from '@fencepost/operations';
import { RedisPodRegistry } from '@fencepost/jobs/internal';
import { redisSpaces } from '../jobs/redis-space.js';
import { useDeployment } from '../support/deployment.js';
import { declared, FencepostDeployment } from '../support/fencepost.js';
import { podCard } from '../contracts/pod-registry.contract.js';
import { until } from '../support/until.js';

const spaces = redisSpaces();
const REVISION = { app: 'app', revision: 7 };
const BY = { by: 'ada', reason: 'repair' };

/** Records as a stray write, another program or a bug of an older release may leave them. */
const BROKEN = {
  'no line at all': () => 'x',
  'no JSON in it': (line: string) => line.replace(/\{"name".*$/s, '{'),
  'a definition of another cron': (line: string) => line.replace('"name":"bad"', '"name":"good"'),
  'a definition that is null': (line: string) => line.replace(/\{"name".*$/s, 'null'),
  'no expression': (line: string) => line.replace(/"expression":"[^"]*",/, ''),
};

async function deployment(damage: (line: string) => string = BROKEN['no line at all']) {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const at = await FencepostDeployment.of(space, [declared('bad'), declared('good')]);
  const crons = redisKeys(space)('catalog', 'crons');
  const line = (await space.redis.hget(crons, 'bad')) ?? '';
  expect(damage(line)).not.toBe(line);
  await space.redis.hset(crons, 'bad', damage(line));
  const names = async () => (await at.catalog.read()).entries.map(({ definition }) => definition.name);
  const unreadable = async () => ((await at.catalog.read()).unreadable ?? []).map(({ name }) => name);
  const catalog = new CronCatalog({ catalog: at.catalog, clock: { now: Date.now } as never });
  return { space, at, names, unreadable, catalog };
}

describe.each(Object.entries(BROKEN))('a catalog record with %s', (_, damage) => {
  it('is set aside with its reason, and the others are read', async () => {
    const { at, names } = await deployment(damage);
    expect(await names()).toEqual(['good']);
    const { unreadable } = await at.catalog.read();
    expect(unreadable).toEqual([{ name: 'bad', reason: expect.stringMatching(/\w/) }]);
  });

  it('is deleted by an operator, and comes back with the next declaration', async () => {
    const { at, names, unreadable, catalog } = await deployment(damage);
    await catalog.remove('bad', BY);
    expect([await names(), await unreadable()]).toEqual([['good'], []]);
    await at.catalog.declare([declared('bad'), declared('good')], REVISION);
    expect(await names()).toEqual(['bad', 'good']);
  });

  it('is written anew when an operator sets the cron', async () => {
    const { names, unreadable, catalog } = await deployment(damage);
    await catalog.set('bad', { expression: '0 4 * * *' }, BY);
    expect([await names(), await unreadable()]).toEqual([['bad', 'good'], []]);
  });

  it('keeps no revision from declaring its crons, or from dropping this one', async () => {
    const { at, names } = await deployment(damage);
    const more = [declared('good', '0 5 * * *'), declared('more')];
    const by = { app: 'app', revision: 8, gone: [REVISION] };
    expect(await at.catalog.declare(more, by)).toEqual([
      { cron: 'good', word: 'changed' },
      { cron: 'more', word: 'created' },
    ]);
    expect(await at.catalog.drop(['bad'], by)).toEqual(['bad']);
    expect(await names()).toEqual(expect.arrayContaining(['good', 'more']));
  });
});

describe('the command line beside an unreadable catalog record', () => {
  it('lists the other crons, and names the one that cannot be read', async () => {
    const { at } = await deployment();
    const { code, out } = await at.ask('list');
    expect(code).toBe(0);
    expect(out).toMatch(/^good /m);
    expect(out).toContain('The record of bad is invalid');
    expect((await at.json('list')).json).toMatchObject([{ name: 'good' }]);
  });

  it('says in doctor which record it is and what to do', async () => {
    const { at } = await deployment();
    const { code, json } = await at.json('doctor');
    expect(code).toBe(1);
    const todo = expect.stringContaining('fencepost remove bad') as string;
    expect(json).toContainEqual(
      expect.objectContaining({ code: 'RECORD_UNREADABLE', level: 'bad', subject: 'bad', todo }),
    );
  });

  it('says so to whoever asks about that cron', async () => {
    const { at } = await deployment();
    const { err } = await at.ask('pause', 'bad', '--reason', 'why not');
    expect(err).toContain('record of the cron "bad" is invalid');
  });
});

it('an unreadable pod card hides no other pod', async () => {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const registry = new RedisPodRegistry(space);
  await registry.report(podCard({ pod: 'a/0123456789' }));
  await registry.report(podCard({ pod: 'b/0123456789' }));
  await space.redis.hset(redisKeys(space)('catalog', 'pod-cards'), 'a/0123456789', '{');
  expect((await registry.list()).map(({ pod }) => pod)).toEqual(['b/0123456789']);
});

describe('pods beside an unreadable catalog record', () => {
  const pods = useDeployment();

  it(
    'go on firing the other crons, also after a restart, and name the record in their log',
    { timeout: 60_000 },
    async () => {
      const [worker, running] = await Promise.all([
        pods.pods.worker('worker', { env: { CRONS: 'echo' } }),
        pods.pods.scheduler('running'),
      ]);
      const { stores } = pods;
      await stores.crons.set('tick', { expression: '* * * * * *', handler: 'echo' }, { by: 'the test' });
      await ranAgain();
      const key = (part: string) => redisKeys({ prefix: pods.prefix, tenant: 'default' })('catalog', part);
      await stores.redis.hset(key('crons'), 'stray', 'x');
      await stores.redis.incr(key('version'));
      await running.waitFor('catalog_unreadable', (line) => line['cron'] === 'stray');
      await ranAgain();

      await running.terminate();
      const restarted = await pods.pods.scheduler('restarted');
      await restarted.waitFor('catalog_unreadable', (line) => line['cron'] === 'stray');
      await ranAgain();
      expect(running.eventsOf('catalog_unreadable')).toHaveLength(1);
      expect(worker.eventsOf('store_failed')).toEqual([]);
      await pods.pods.terminateAll();
    },
  );

  /** Two more instants than now have succeeded. */
  async function ranAgain(): Promise<void> {
    const after = (await pods.stores.ledger.readCron('tick')).cursor ?? 0;
    await until('tick has run twice more', async () => {
      const runs = await pods.stores.ledger.runs('tick', 10);
      return runs.filter(({ state, scheduledAt }) => state === 'succeeded' && scheduledAt > after).length >= 2;
    });
  }
});
