import { describe, expect, it } from 'vitest';
import { declared, fencepost, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const REASON = ['--reason', 'a flood'];

function deployment() {
  const crons = [
    declared('alpha', '0 3 * * *', { tags: ['billing', 'eu'] }),
    declared('beta', '0 3 * * *', { tags: ['billing'] }),
    declared('gamma'),
  ];
  return FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh() }, crons);
}

const pausedIn = async (at: FencepostDeployment) => {
  const { json } = await at.json('list');
  return (json as { name: string; paused: unknown }[]).filter(({ paused }) => paused).map(({ name }) => name);
};

describe('fencepost --tag', () => {
  it('lists the crons with a tag, and show names the tags', async () => {
    const at = await deployment();
    expect((await at.json('list', '--tag', 'billing')).json).toMatchObject([{ name: 'alpha' }, { name: 'beta' }]);
    expect((await at.ask('show', 'alpha')).out).toMatch(/tags +billing, eu/);
  });

  it('shows which crons it pauses, and leaves one record', async () => {
    const at = await deployment();
    const { code, out, err } = await at.ask('pause', '--tag', 'billing', '--yes', ...REASON);
    expect([code, out]).toEqual([0, '2 crons paused.\n']);
    expect(err).toContain('Pauses 2 crons with the tag "billing":\n  alpha\n  beta\n');
    expect(await pausedIn(at)).toEqual(['alpha', 'beta']);
    expect(await at.trail.list({ limit: 10 })).toMatchObject([
      {
        action: 'pause',
        by: 'otto',
        role: 'shell',
        cron: null,
        after: { tag: 'billing', failed: [] },
        crons: ['alpha', 'beta'],
      },
    ]);
    expect((await at.json('resume', '--tag', 'billing', '--yes', ...REASON)).json).toMatchObject({
      done: ['alpha', 'beta'],
    });
    expect(await pausedIn(at)).toEqual([]);
  });

  it('asks where somebody can be asked, and takes only yes for yes', async () => {
    const at = await deployment();
    const questions: string[] = [];
    const answered = (answer: string) => ({
      env: at.env,
      ask: async (question: string) => (questions.push(question), answer),
    });
    const pause = ['pause', '--tag', 'eu', ...REASON];
    expect(await fencepost(pause, answered('n'))).toMatchObject({ code: 1, out: 'Nothing was changed.\n' });
    expect(await pausedIn(at)).toEqual([]);
    expect(await fencepost(pause, answered('y'))).toMatchObject({ code: 0, out: '1 cron paused.\n' });
    expect(questions).toEqual(Array.from({ length: 2 }, () => 'Shall pause be ordered for 1 cron? [y/N] '));
  });

  it('triggers each, and says for which it did not', async () => {
    const at = await deployment();
    await at.ask('trigger', 'beta');
    const { code, out } = await at.ask('trigger', '--tag', 'billing', '--yes', ...REASON);
    expect(code).toBe(1);
    expect(out).toBe('1 cron triggered, 1 not:\nbeta: The maximum of open runs is reached.\n');
  });

  it.each([
    [['pause', '--tag', 'billing'], 'Without a terminal, --yes is required. Nothing was changed.'],
    [['pause'], 'Expected either the name of a cron or --tag.'],
    [['pause', 'alpha', '--tag', 'billing'], 'Expected either the name of a cron or --tag.'],
    [['resume', 'alpha', '--yes'], 'Expected --yes only with --tag.'],
    [['trigger', '--tag', 'billing', '--yes', '--force'], 'Expected neither --payload nor --force with --tag.'],
  ])('refuses %j and changes nothing', async (args, sentence) => {
    const at = await deployment();
    expect(await at.ask(...args, ...REASON)).toMatchObject({ code: 2, err: expect.stringContaining(sentence) });
    expect(await pausedIn(at)).toEqual([]);
    expect(await at.trail.list({ limit: 1 })).toEqual([]);
  });

  it('says when no cron has the tag', async () => {
    const { code, out } = await (await deployment()).ask('pause', '--tag', 'nobody', '--yes', ...REASON);
    expect([code, out]).toEqual([0, 'No cron with the tag "nobody" to pause.\n']);
  });

  it('is what set gives a cron, in order', async () => {
    const at = await deployment();
    await at.ask('set', 'gamma', '--every', '1h', '--tag', 'eu', 'billing');
    expect((await at.json('list', '--tag', 'eu')).json).toMatchObject([
      { name: 'alpha' },
      { name: 'gamma', tags: ['billing', 'eu'] },
    ]);
    expect(await at.ask('set', 'gamma', '--every', '1h', '--tag', 'EU')).toMatchObject({
      code: 2,
      err: expect.stringContaining('expected a tag of 1 to 40'),
    });
  });
});
