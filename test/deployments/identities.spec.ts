import { describe, expect } from 'vitest';
import type { Image } from './images.js';
import { CLEAN, EVEN_SECONDS, EVERY_SECOND, inRow, text, THIRD_SECONDS, type Row, type Verdict } from './row.js';

/** Process after process is started, on a machine that may be busy. */
const LONG = { timeout: 240_000 };

describe('an application', () => {
  const v1 = { tick: text(EVERY_SECOND) };
  const v2 = { tick: text(EVEN_SECONDS) };

  /** The second image changes a cron of the first one, and its pod starts beside the other's. */
  async function afterAChange(
    row: Row,
    [first, second]: readonly [Image, Image],
    args?: readonly string[],
  ): Promise<Verdict> {
    const options = args ? { args } : {};
    const old = await row.start(first, options);
    await row.comesTo({ tick: EVERY_SECOND });
    await row.start(second, options);
    await row.comesTo({ tick: EVEN_SECONDS });
    await old.leave();
    await row.runs('tick');
    expect(await row.entry('tick')).toMatchObject({ generation: 2, app: 'shop', revision: 2 });
    return row.finish();
  }

  inRow.concurrent('whose files all have one time is deployed like any other', LONG, async ({ row }) => {
    expect(
      await afterAChange(row, [row.image({ crons: v1 }).freezeTimes(), row.image({ crons: v2 }).freezeTimes()]),
    ).toEqual(CLEAN);
  });

  inRow.concurrent(
    'that is built when it starts is not reverted by an old pod that restarts',
    LONG,
    async ({ row }) => {
      const [first, second] = [row.image({ crons: v1 }), row.image({ crons: v2 })];
      const old = await row.start(first);
      await row.start(second);
      await row.comesTo({ tick: EVEN_SECONDS });
      await old.leave();
      // Its files are the newest now.
      first.build();
      await row.start(first);
      await row.runs('tick');
      expect(await row.inForce()).toEqual({ tick: EVEN_SECONDS });
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent('that is started as "node ." is known by its package', LONG, async ({ row }) => {
    expect(await afterAChange(row, [row.image({ crons: v1 }), row.image({ crons: v2 })], ['.'])).toEqual(CLEAN);
  });

  inRow.concurrent('that a runner starts is known by its own package', LONG, async ({ row }) => {
    const runner = 'node_modules/@nx/js/src/executors/node.mjs';
    const withRunner = (image: Image): Image => {
      image.write('node_modules/@nx/js/package.json', '{ "name": "@nx/js" }');
      image.write(runner, "await import('../../../../../dist/main.mjs');\n");
      return image;
    };
    expect(
      await afterAChange(row, [withRunner(row.image({ crons: v1 })), withRunner(row.image({ crons: v2 }))], [runner]),
    ).toEqual(CLEAN);
  });

  inRow.concurrent('that is a bundle without a package loses nothing to another one', LONG, async ({ row }) => {
    const mail = row.image({ crons: { mail: text(EVERY_SECOND) }, name: null });
    const bill = row.image({ crons: { bill: text(EVEN_SECONDS) }, name: null });
    await row.start(mail);
    const second = await row.start(bill);
    await row.comesTo({ mail: EVERY_SECOND, bill: EVEN_SECONDS });
    expect(await row.entry('mail')).toMatchObject({ app: 'default' });
    expect(second.said).toContain('two programs that have no cron in common declare under one app name');
    expect(await row.doctor()).toContain('APP_SHARED');
    await Promise.all([row.runs('mail'), row.runs('bill')]);
    expect(await row.finish()).toEqual(CLEAN);
  });

  inRow.concurrent(
    'loses nothing to another repository with the same package name, whichever deploys while the other is up, down or gone',
    LONG,
    async ({ row }) => {
      const api = (crons: Readonly<Record<string, string>>) => row.image({ crons, name: 'api' });
      const orders = await row.start(api({ orders: text(EVERY_SECOND) }));
      const users = await row.start(api({ users: text(EVERY_SECOND) }));
      await row.comesTo({ orders: EVERY_SECOND, users: EVERY_SECOND });
      // While the other is up.
      const newUsers = await row.start(api({ users: text(EVEN_SECONDS) }));
      await users.leave();
      await row.comesTo({ orders: EVERY_SECOND, users: EVEN_SECONDS });
      // While the other has gone down a moment ago, and then for good.
      await newUsers.leave();
      await row.start(api({ orders: text(THIRD_SECONDS) }));
      await orders.leave();
      await row.comesTo({ orders: THIRD_SECONDS });
      // It is scaled up again.
      await row.start(api({ users: text(EVEN_SECONDS) }));
      await row.comesTo({ orders: THIRD_SECONDS, users: EVEN_SECONDS });
      await Promise.all([row.runs('orders'), row.runs('users')]);
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent(
    'that chooses its minute when it is loaded starts with three replicas, and is told',
    LONG,
    async ({ row }) => {
      const image = row.image({ crons: { hourly: '`0 ${process.pid % 60} * * * *`', tick: text(EVERY_SECOND) } });
      const pods = [await row.start(image), await row.start(image), await row.start(image)];
      await row.runs('tick');
      expect(pods.some(({ said }) => said.includes('pods with the same code declare these crons differently'))).toBe(
        true,
      );
      expect(await row.doctor()).toContain('DECLARED_DIFFERENTLY');
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent(
    'that runs in two regions with other configurations runs the newer one in both, and is told',
    LONG,
    async ({ row }) => {
      const image = row.image({ crons: { tick: 'process.env.CRON' } });
      await row.start(image, { env: { CRON: EVERY_SECOND } });
      await row.start(image, { env: { CRON: EVEN_SECONDS } });
      await row.comesTo({ tick: EVEN_SECONDS });
      await row.runs('tick', 4);
      expect(await row.entry('tick')).toMatchObject({ generation: 2 });
      expect(await row.doctor()).toContain('DECLARED_DIFFERENTLY');
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent('keeps a name that another app declares too, which starts and is told', LONG, async ({ row }) => {
    const owner = await row.start(row.image({ crons: { bill: text(EVERY_SECOND) } }));
    await row.comesTo({ bill: EVERY_SECOND });
    const crons = { bill: text(EVEN_SECONDS), mail: text(THIRD_SECONDS) };
    const other = await row.start(row.image({ crons, name: 'billing' }));
    await row.comesTo({ bill: EVERY_SECOND, mail: THIRD_SECONDS });
    expect(other.said).toContain('another app declared these crons first and keeps them');
    expect(await row.doctor()).toContain('NAME_TAKEN');
    await owner.leave();
    await row.comesTo({ bill: EVEN_SECONDS, mail: THIRD_SECONDS });
    expect(await row.entry('bill')).toMatchObject({ app: 'billing', generation: 2 });
    // The line follows the change in the catalog.
    await expect.poll(() => other.said, { timeout: 30_000 }).toContain('crons taken over from another app');
    await row.runs('bill');
    expect(await row.finish()).toEqual(CLEAN);
  });

  inRow.concurrent('takes its name and its revision from the environment', LONG, async ({ row }) => {
    const [first, second] = [row.image({ crons: v1 }), row.image({ crons: v2 })];
    await row.start(first, { env: { FENCEPOST_APP: 'named', FENCEPOST_REVISION: '43' } });
    await row.start(second, { env: { FENCEPOST_APP: 'named', FENCEPOST_REVISION: '42' } });
    await row.runs('tick');
    expect(await row.entry('tick')).toMatchObject({
      app: 'named',
      revision: 43,
      definition: { expression: EVERY_SECOND },
    });
    expect(await row.finish()).toEqual(CLEAN);
  });

  inRow.concurrent('is two where two Nest applications run in one process', LONG, async ({ row }) => {
    const image = row.image({ crons: v1 });
    const second = `await boot({ other: ${text(EVEN_SECONDS)} }, { app: 'second' });\n`;
    image.write('dist/main.mjs', `${image.program}${second}`);
    await row.start(image);
    await row.comesTo({ tick: EVERY_SECOND, other: EVEN_SECONDS });
    expect(await row.entry('other')).toMatchObject({ app: 'second' });
    await Promise.all([row.runs('tick'), row.runs('other')]);
    expect(await row.finish()).toEqual(CLEAN);
  });
});
