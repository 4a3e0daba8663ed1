import { describe, expect } from 'vitest';
import { CLEAN, EVEN_SECONDS, EVERY_SECOND, inRow, text, THIRD_SECONDS } from './row.js';

/** Process after process is started, on a machine that may be busy. */
const LONG = { timeout: 240_000 };

describe('a deploy', () => {
  const v1 = { tick: text(EVERY_SECOND), old: text(EVEN_SECONDS) };
  const v2 = { tick: text(EVEN_SECONDS), fresh: text(THIRD_SECONDS) };

  inRow.concurrent('changes, adds and removes crons while it rolls, with its first pod', LONG, async ({ row }) => {
    const [first, second] = [row.image({ crons: v1 }), row.image({ crons: v2 })];
    const olds = [await row.start(first), await row.start(first)];
    await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
    await row.start(second);
    await row.comesTo({ tick: EVEN_SECONDS, old: EVEN_SECONDS, fresh: THIRD_SECONDS });
    expect(await row.doctor()).toContain('MIXED_REVISIONS');
    for (const pod of olds) await pod.leave();
    await row.start(second);
    await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS });
    expect(await row.entry('old')).toMatchObject({ state: 'removed', reason: 'no live pod declares it any more' });
    await row.runs('fresh');
    expect(await row.doctor()).toContain('REMOVED');
    expect(await row.finish()).toEqual(CLEAN);
  });

  inRow.concurrent(
    'takes another configuration of the same image with its first pod, and its return when the last one is gone',
    LONG,
    async ({ row }) => {
      const image = row.image({ crons: { tick: `process.env.CRON ?? ${text(EVERY_SECOND)}` } });
      await row.start(image);
      await row.comesTo({ tick: EVERY_SECOND });
      const changed = await row.start(image, { env: { CRON: EVEN_SECONDS } });
      await row.comesTo({ tick: EVEN_SECONDS });
      await row.runs('tick');
      expect(changed.said).toContain('pods with the same code declare these crons differently');
      expect(await row.doctor()).toContain('DECLARED_DIFFERENTLY');
      await changed.leave();
      await row.comesTo({ tick: EVERY_SECOND });
      await row.runs('tick');
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent('is undone by a rollout undo, which says so', LONG, async ({ row }) => {
    const [first, second] = [row.image({ crons: v1 }), row.image({ crons: v2 })];
    await (await row.start(first)).leave();
    const newer = await row.start(second);
    await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS });
    const back = await row.start(first);
    await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS, old: EVEN_SECONDS });
    expect(back.said).toContain('a newer revision of the app with a live pod defines these crons');
    expect(await row.doctor()).toContain('SUPERSEDED');
    await newer.leave();
    await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
    expect(back.said).toContain('definitions of a newer revision replaced');
    await row.runs('tick');
    expect(await row.finish()).toEqual(CLEAN);
  });

  inRow.concurrent(
    'is not reverted by a straggler that restarts before or after the last former pod is gone',
    LONG,
    async ({ row }) => {
      const [first, second] = [row.image({ crons: v1 }), row.image({ crons: v2 })];
      const old = await row.start(first);
      const newer = [await row.start(second), await row.start(second)];
      await old.leave();
      const straggler = await row.start(first);
      await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS, old: EVEN_SECONDS });
      await row.runs('fresh');
      await straggler.leave();
      await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS });
      for (const pod of newer) await pod.leave();
      // Alone, it is the newest revision with a live pod.
      await row.start(first);
      await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent('goes from blue to green at once', LONG, async ({ row }) => {
    const [blue, green] = [row.image({ crons: v1 }), row.image({ crons: v2 })];
    const blues = [await row.start(blue), await row.start(blue)];
    await Promise.all([row.start(green), row.start(green)]);
    await Promise.all(blues.map((pod) => pod.leave()));
    await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS });
    await row.runs('tick');
    expect(await row.finish()).toEqual(CLEAN);
  });

  inRow.concurrent(
    'lets a canary decide while it lives, and takes its crons back when it is gone',
    LONG,
    async ({ row }) => {
      const stable = row.image({ crons: v1 });
      await Promise.all([row.start(stable), row.start(stable), row.start(stable)]);
      const canary = await row.start(row.image({ crons: v2 }));
      await row.comesTo({ tick: EVEN_SECONDS, fresh: THIRD_SECONDS, old: EVEN_SECONDS });
      await row.runs('tick');
      await canary.leave();
      await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent(
    'that crashes in a loop leaves the former revision in force in the end, and is told',
    LONG,
    async ({ row }) => {
      const old = await row.start(row.image({ crons: v1 }));
      const crashing = row.image({ crons: v2 });
      for (let n = 0; n < 4; n += 1) await row.crash(crashing, 6_000);
      await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
      expect(old.said).toContain('pods of this revision come and go');
      await row.runs('tick');
      expect(await row.finish()).toEqual(CLEAN);
    },
  );

  inRow.concurrent(
    'with all pods gone for a while keeps everything, and goes on where it stood',
    LONG,
    async ({ row }) => {
      const image = row.image({ crons: v1 });
      const [a, b] = [await row.start(image), await row.start(image)];
      await row.runs('tick');
      await Promise.all([a.leave(), b.leave()]);
      await row.comesTo({ tick: EVERY_SECOND, old: EVEN_SECONDS });
      await row.start(image);
      await row.runs('tick');
      expect((await row.entry('tick')).generation).toBe(1);
      expect(await row.doctor()).toEqual([]);
      expect(await row.finish()).toEqual(CLEAN);
    },
  );
});
