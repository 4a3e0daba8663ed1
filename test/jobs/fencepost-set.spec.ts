import { describe, expect, it } from 'vitest';
import { fencepost, declared, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

function deployment(declarations: Parameters<typeof FencepostDeployment.of>[1]) {
  return FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh() }, declarations);
}

async function entryOf({ catalog }: FencepostDeployment, name: string) {
  return (await catalog.read()).entries.find(({ definition }) => definition.name === name);
}

describe('fencepost set', () => {
  it('makes a cron, with who and why, and says its generation and from when it counts', async () => {
    const at = await deployment([declared('mail')]);
    const args = ['set', 'newsletter', '--expression', '0 4 * * *', '--handler', 'mail', '--reason', 'asked for'];
    const { code, json } = await at.json(...args);
    const entry = await entryOf(at, 'newsletter');
    expect(entry).toMatchObject({ generation: 1, state: 'active', app: null, by: 'otto', reason: 'asked for' });
    expect([code, json]).toEqual([
      0,
      {
        ...{ cron: 'newsletter', verdict: 'set', generation: 1, state: 'active', by: 'otto', reason: 'asked for' },
        since: new Date(entry!.since).toISOString(),
        restored: false,
        definition: { ...declared('newsletter', '0 4 * * *').definition, handler: 'mail' },
      },
    ]);
  });

  it('tells a person which generation, from when on, and whose handler', async () => {
    const at = await deployment([declared('mail')]);
    const { out } = await at.ask('set', 'newsletter', '--expression', '@daily', '--handler', 'mail', '--by', 'anna');
    const since = new Date((await entryOf(at, 'newsletter'))!.since).toISOString().slice(0, 19);
    expect(out).toBe(
      `newsletter is set: generation 1, effective from ${since}Z, by anna\n` +
        'Its runs go to the workers that have the handler "mail", and wait where there is none.\n',
    );
    const alone = await at.ask('set', 'alone', '--expression', '@daily', '--reason', 'why not');
    expect(alone.out).toMatch(/by otto: why not\n.* handler "alone"/);
  });

  it('takes an interval for an expression, one of the two', async () => {
    const at = await deployment([declared('mail')]);
    await at.ask('set', 'poll', '--every', '30s', '--handler', 'mail');
    expect((await entryOf(at, 'poll'))?.definition).toMatchObject({ expression: '@every 30s', timeZone: 'UTC' });
    const refused = ['set', 'other', '--handler', 'mail'];
    expect((await at.ask(...refused, '--every', '30')).err).toContain("expected an interval from '1s' to '365d'");
    const often = await at.ask(...refused, '--every', '30s', '--min-interval', '1m');
    expect([often.code, often.err]).toEqual([2, expect.stringContaining('option "every" of')]);
    expect(often.err).not.toContain('expression');
  });

  it('hands every option on to the catalog', async () => {
    const at = await deployment([]);
    const { code } = await at.ask(
      ...['set', 'all', '--expression', '30 2 * * *', '--tz', 'Europe/Berlin', '--dst-gap', 'skip'],
      ...['--dst-repeat', 'last', '--handler', 'mail', '--payload', '{"month":3}', '--misfire', 'fire-all'],
      ...['--max-catch-up', '7', '--overlap', 'replace', '--max-concurrency', '2', '--start-deadline', '10m'],
      ...['--cancel-grace', '45s', '--grace', '0s', '--catch-up-window', '2h', '--spread', '10m'],
      ...['--min-interval', '1h', '--disabled', '--expect-every', '25h', '--late-after', '10m'],
      ...['--ping-success', 'https://hc.example/a', '--ping-failure', 'https://hc.example/b'],
      ...['--description', 'Sends it.', '--owner', 'Team Mail', '--runbook-url', 'https://wiki.example/mail'],
      ...['--ping-missed', 'https://hc.example/c', '--ping-uncertain', 'https://hc.example/d'],
    );
    const entry = await entryOf(at, 'all');
    expect([code, entry?.state]).toEqual([0, 'disabled']);
    expect(entry?.definition).toEqual({
      ...{ name: 'all', expression: '30 2 * * *', timeZone: 'Europe/Berlin', dst: { gap: 'skip', repeat: 'last' } },
      ...{ handler: 'mail', payload: { month: 3 }, misfire: 'fire-all', maxCatchUp: 7, overlap: 'replace' },
      ...{ maxConcurrency: 2, startDeadlineMs: 600_000, cancelGraceMs: 45_000, graceMs: 0 },
      ...{ catchUpWindowMs: 7_200_000, spreadMs: 600_000, minIntervalMs: 3_600_000 },
      ...{ expectEveryMs: 90_000_000, lateAfterMs: 600_000 },
      ...{ description: 'Sends it.', owner: 'Team Mail', runbookUrl: 'https://wiki.example/mail' },
      ping: {
        ...{ success: 'https://hc.example/a', failure: 'https://hc.example/b' },
        ...{ missed: 'https://hc.example/c', uncertain: 'https://hc.example/d' },
      },
    });
  });

  it('keeps what is not named, also of a declared cron, which the revision that declares it leaves as it is', async () => {
    const written = declared('nightly', '0 3 * * *', { graceMs: 5_000, overlap: 'allow' });
    const at = await deployment([written]);
    const { json } = await at.json('set', 'nightly', '--expression', '0 5 * * *');
    expect(json).toMatchObject({ generation: 2, definition: { ...written.definition, expression: '0 5 * * *' } });
    await at.catalog.declare([written], { revision: 8, app: 'app' });
    expect(await entryOf(at, 'nightly')).toMatchObject({ generation: 2, definition: { expression: '0 5 * * *' } });
    await at.catalog.declare([declared('nightly', '0 6 * * *')], { revision: 9, app: 'app' });
    expect(await entryOf(at, 'nightly')).toMatchObject({ generation: 3, definition: { expression: '0 6 * * *' } });
  });

  it('resets the options that --reset names, parts of the clock rule and pings one by one', async () => {
    const at = await deployment([]);
    await at.ask(
      ...[
        'set',
        'all',
        '--expression',
        '30 2 * * *',
        '--tz',
        'Europe/Berlin',
        '--dst-gap',
        'skip',
        '--dst-repeat',
        'last',
      ],
      ...['--payload', '{"month":3}', '--tag', 'eu', 'us', '--grace', '5m', '--owner', 'Team Mail', '--disabled'],
      ...['--misfire', 'fire-all', '--max-catch-up', '7', '--ping-success', 'https://hc.example/a'],
      ...['--ping-failure', 'https://hc.example/b'],
    );
    const some = ['--reset', 'tz,grace, tag,disabled,dst-gap,ping-failure', '--reset', 'payload,max-catch-up'];
    const { code } = await at.ask('set', 'all', '--misfire', 'skip', '--dst-repeat', 'both', ...some);
    expect(code).toBe(0);
    const entry = await entryOf(at, 'all');
    expect(entry).toMatchObject({ state: 'active', generation: 2 });
    expect(entry?.definition).toEqual({
      ...declared('all', '30 2 * * *', { misfire: 'skip', owner: 'Team Mail' }).definition,
      ...{ dst: { gap: 'next-valid', repeat: 'both' }, ping: { success: 'https://hc.example/a' } },
    });
  });

  it('restores a removed cron with its last definition and what is named', async () => {
    const written = declared('nightly', '0 3 * * *', { graceMs: 5_000, overlap: 'allow' });
    const at = await deployment([written]);
    await at.ask('remove', 'nightly', '--reason', 'of no use');
    const restored = await at.json('set', 'nightly');
    expect(restored).toMatchObject({
      code: 0,
      json: { verdict: 'set', restored: true, state: 'active', generation: 3, definition: written.definition },
    });
    await at.ask('remove', 'nightly', '--reason', 'of no use');
    const told = await at.ask('set', 'nightly', '--grace', '9s', '--reason', 'needed');
    expect(told.out).toMatch(/^nightly is restored: generation 5, effective from .*, by otto: needed\n/);
    expect((await entryOf(at, 'nightly'))?.definition).toEqual({ ...written.definition, graceMs: 9_000 });
  });

  it('brings back what a build dropped', async () => {
    const at = await deployment([declared('dropped', '0 3 * * *', { graceMs: 5_000 }), declared('kept')]);
    await at.catalog.drop(['dropped'], { app: 'app', revision: 8, gone: [{ app: 'app', revision: 7 }] });
    expect(await entryOf(at, 'dropped')).toMatchObject({ state: 'removed' });
    expect((await at.json('set', 'dropped')).json).toMatchObject({ restored: true, definition: { graceMs: 5_000 } });
  });

  it('fails when somebody was faster, and changes nothing', async () => {
    const at = await deployment([declared('nightly')]);
    const seen = ['set', 'nightly', '--expression', '@hourly', '--expected', '1'];
    expect((await at.json(...seen)).json).toMatchObject({ verdict: 'set', generation: 2 });
    const late = await at.json(...seen);
    expect([late.code, late.json]).toEqual([1, { cron: 'nightly', verdict: 'moved', expected: 1, found: 2 }]);
    const told = await at.ask(...seen);
    expect([told.code, told.err]).toEqual([1, '']);
    expect(told.out.replaceAll(/\s+/g, ' ')).toContain('found generation 2: it was changed in the meantime');
    expect(await entryOf(at, 'nightly')).toMatchObject({ generation: 2 });
  });

  it.each([
    [['--expression', '0 25 * * *'], 'the hour field takes values from 0 to 23'],
    [['--expression', '@daily', '--tz', 'Mars/Olympus'], 'an IANA time zone such as "Europe/Berlin"'],
    [['--expression', '@daily', '--max-catch-up', '3'], 'misfire "fire-all" beside it'],
    [[], 'Expected an option to change, or --reset. Nothing was changed.'],
    [['--expression', '* * * * *', '--min-interval', '1h'], 'at least 3600 s between instants'],
    [['--expression', '@daily', '--handler', 'not a name'], 'handler'],
  ])('refuses %j with 2, and changes nothing', async (args, sentence) => {
    const at = await deployment([declared('nightly')]);
    const { code, out, err } = await at.ask('set', 'nightly', ...args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(sentence)]);
    expect(await entryOf(at, 'nightly')).toMatchObject({ generation: 1 });
  });

  it.each([
    [['--expression', '@daily', '--every', '1m'], 'Expected either --expression or --every, and not both.'],
    [['--reset', 'grace,retry'], '"retry" has no default. Name options such as handler, disabled'],
    [['--reset', 'expression'], '"expression" has no default.'],
    [['--grace', '1m', '--reset', 'grace'], 'Expected a value for --grace or --reset grace, and not both.'],
    [['--dst-gap', 'skip', '--reset', 'dst-gap'], 'Expected a value for --dst-gap or --reset dst-gap, and not both.'],
    [['--expression', '@daily', '--expected', '0'], 'Use a whole number from 1'],
    [['--expression', '@daily', '--misfire', 'never'], 'Allowed choices are skip, fire-once, fire-all'],
    [['--expression', '@daily', '--overlap', 'both'], 'Allowed choices are skip, queue-one, queue-all, replace, allow'],
    [['--expression', '@daily', '--start-deadline', '0s'], 'Use a duration such as'],
    [['--expression', '@daily', '--grace', 'soon'], 'Use a duration such as'],
    [['--expression', '@daily', '--payload', '{month: 3}'], 'Give JSON, such as'],
    [['--expression', '@daily', '--max-concurrency', '1001'], 'Use a whole number from 1 to 1000'],
  ])('refuses %j before any store is asked', async (args, sentence) => {
    const { code, out, err } = await fencepost(['set', 'nightly', ...args]);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(sentence)]);
  });
});

describe('fencepost set of a new cron', () => {
  it('needs a schedule', async () => {
    const at = await deployment([]);
    const { code, err } = await at.ask('set', 'fresh', '--grace', '1m');
    expect([code, err]).toEqual([
      2,
      'Expected --expression or --every: there is no cron "fresh" to keep a schedule from.\n',
    ]);
  });
});

describe('fencepost remove', () => {
  it('ends a cron, with who and why, until it is set again', async () => {
    const at = await deployment([declared('nightly')]);
    const { code, json } = await at.json('remove', 'nightly', '--reason', 'of no use', '--by', 'anna');
    const verdict = { verdict: 'removed', by: 'anna', reason: 'of no use', declaredBy: 'app' };
    expect([code, json]).toEqual([0, { cron: 'nightly', ...verdict }]);
    expect(await entryOf(at, 'nightly')).toMatchObject({ state: 'removed', by: 'anna', reason: 'of no use' });
    expect((await at.json('set', 'nightly', '--expression', '@daily', '--expected', 'none')).code).toBe(0);
    expect(await entryOf(at, 'nightly')).toMatchObject({ state: 'active' });
    const told = await at.ask('remove', 'nightly', '--reason', 'once more');
    // A removed cron that is set again is the operator's: no code brings it back.
    expect(told).toMatchObject({ code: 0, out: 'nightly is removed, by otto: once more\n' });
  });
});
