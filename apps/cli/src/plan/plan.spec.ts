import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CronDefinition, Declaration } from '../jobs.js';
import { plan } from './plan.js';
import { planReport } from './plan-report.js';
import { readDeclarations } from './read-declarations.js';

const FROM = Date.parse('2026-03-23T00:00:00Z');
const TO = Date.parse('2026-03-30T00:00:00Z');

function definition(name: string, expression = '0 3 * * *', more: Partial<CronDefinition> = {}): CronDefinition {
  const policies = { misfire: 'fire-once', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  return { name, expression, timeZone: 'UTC', ...policies, ...more };
}

function entry(of: CronDefinition, more: Partial<CatalogEntry> = {}): CatalogEntry {
  const made = {
    generation: 1,
    state: 'active',
    since: 0,
    by: 'app revision 7',
    reason: null,
    zoneData: '2026a',
  } as const;
  return { ...made, definition: of, past: [], app: 'app', revision: 7, ...more };
}

function declared(...definitions: CronDefinition[]): Declaration[] {
  return definitions.map((each) => ({ definition: each, disabled: false }));
}

function look(live: readonly CatalogEntry[], declarations: readonly Declaration[]) {
  const span = { from: FROM, to: TO };
  const found = plan({ live, deploy: { app: 'app', declarations }, ...span });
  const report = planReport(found, span);
  return { ...found, report, kinds: found.changes.map(({ cron, change }) => `${cron} ${change}`) };
}

describe('plan', () => {
  it('has nothing to tell of a deploy that declares what is in force', () => {
    const { report, changes, same } = look([entry(definition('a'))], declared(definition('a')));
    expect({ changes, same, code: report.code }).toEqual({ changes: [], same: 1, code: 0 });
  });

  it('tells which instants a changed expression takes away and which it adds', () => {
    const [change] = look([entry(definition('a'))], declared(definition('a', '0 4 * * *'))).changes;
    expect(change).toMatchObject({ change: 'changed', parts: ['expression'] });
    expect(change?.instants.gone).toMatchObject({ count: 7 });
    expect(change?.instants.added.first[0]).toBe(Date.parse('2026-03-23T04:00:00Z'));
  });

  it('tells of another tag, and not of another order of tags', () => {
    const live = [entry(definition('a', '0 3 * * *', { tags: ['billing', 'eu'] }))];
    const of = (tags: string[]) => {
      const { declarations } = readDeclarations(
        JSON.stringify(declared(definition('a', '0 3 * * *', { tags }))),
        'x',
        FROM,
      );
      return look(live, declarations).changes.map(({ parts }) => parts);
    };
    expect([of(['eu', 'billing']), of(['eu']), of([])]).toEqual([[], [['tags']], [['tags']]]);
    expect(() => of(['EU'])).toThrow('a tag of 1 to 40');
    expect(() => of(['eu', 'eu'])).toThrow('each tag once');
  });

  it('tells of another owner, and refuses texts that the catalog would refuse', () => {
    const owned = (said: Partial<CronDefinition>) =>
      readDeclarations(JSON.stringify(declared(definition('a', '0 3 * * *', said))), 'x', FROM).declarations;
    const said = { description: 'Closes the books.', owner: 'Team Billing', runbookUrl: 'https://wiki.example/books' };
    const live = [entry(definition('a', '0 3 * * *', said))];
    expect(look(live, owned(said)).changes).toEqual([]);
    expect(look(live, owned({ ...said, owner: 'Ada' })).changes.map(({ parts }) => parts)).toEqual([['owner']]);
    expect(() => owned({ owner: 'x'.repeat(81) })).toThrow('a team or person in 1 to 80 characters');
    expect(() => owned({ description: '' })).toThrow('a text of 1 to 500 characters');
    expect(() => owned({ runbookUrl: 'javascript:alert(1)' })).toThrow('an http or https address');
  });

  it('finds a new rule for the change of the clocks by the one instant it moves', () => {
    const berlin = { timeZone: 'Europe/Berlin' };
    const shifted = definition('a', '30 2 * * *', { ...berlin, dst: { gap: 'shift', repeat: 'first' } });
    const [change] = look([entry(definition('a', '30 2 * * *', berlin))], declared(shifted)).changes;
    expect(change?.instants.gone).toMatchObject({ count: 1, first: [Date.parse('2026-03-29T01:00:00Z')] });
    expect(change?.instants.added).toMatchObject({ count: 1, first: [Date.parse('2026-03-29T01:30:00Z')] });
  });

  it('removes what the app declared before, and nothing of another app or made by hand', () => {
    const live = [
      entry(definition('mine')),
      entry(definition('mine-of-a-former-release'), { app: 'app/dist/main.js', revision: null }),
      entry(definition('theirs'), { app: 'other' }),
      entry(definition('theirs-too'), { app: 'app/worker' }),
      entry(definition('by-hand'), { app: null, revision: null }),
      entry(definition('gone'), { state: 'removed' }),
    ];
    const { kinds, changes, report } = look(live, []);
    expect(kinds).toEqual(['mine removed', 'mine-of-a-former-release removed']);
    expect(changes[0]?.instants.gone.count).toBe(7);
    expect(report).toMatchObject({ code: 0, json: { ok: true, removed: ['mine', 'mine-of-a-former-release'] } });
    expect(report.text(400).at(-1)).toContain('once no live pod has declared it for removeAfter');
  });

  it('adds a removed cron again, and takes one that was made by hand', () => {
    const live = [
      entry(definition('gone'), { state: 'removed' }),
      entry(definition('by-hand'), { app: null, revision: null }),
    ];
    const { kinds } = look(live, declared(definition('gone'), definition('by-hand', '0 4 * * *')));
    expect(kinds).toEqual(['gone new', 'by-hand changed']);
  });

  it('fails for a cron of another app, whose definition stays', () => {
    const live = [entry(definition('mine')), entry(definition('theirs'), { app: 'other' })];
    const { changes, report } = look(live, declared(definition('mine'), definition('theirs', '0 4 * * *')));
    expect(changes).toMatchObject([{ cron: 'theirs', change: 'foreign', owner: 'other' }]);
    expect(changes[0]?.instants).toMatchObject({ gone: { count: 0 }, added: { count: 0 } });
    expect(report).toMatchObject({ code: 1, json: { ok: false, foreign: ['theirs'], changed: [] } });
    expect(report.text(400).join('\n')).toMatch(/ANOTHER APP'S +theirs +belongs to other/);
  });

  it('fails for it also where both declare it alike', () => {
    const { report } = look([entry(definition('theirs'), { app: 'other' })], declared(definition('theirs')));
    expect(report).toMatchObject({ code: 1, json: { foreign: ['theirs'] } });
  });

  it('asks which app it is where several declare', () => {
    const live = [entry(definition('a')), entry(definition('b'), { app: 'other' })];
    const deploy = { app: null, declarations: [] };
    expect(() => plan({ live, deploy, from: FROM, to: TO })).toThrow(/--app.*app, other/);
  });

  it('keeps to the width of a terminal', () => {
    const { report } = look([entry(definition('a'))], declared(definition('a', '*/7 4 * * *')));
    expect(report.text(80).every((line) => line.length <= 80)).toBe(true);
  });
});

describe('the file with the declarations of a deploy', () => {
  const file = (content: unknown) => () => readDeclarations(JSON.stringify(content), 'build.json', FROM);

  it('is an array, or an object that says which app it is', () => {
    const [one] = declared(definition('a'));
    expect(file([one])()).toEqual({ app: null, declarations: [one] });
    expect(file({ app: 'app', declarations: [one] })()).toMatchObject({ app: 'app' });
  });

  it('may leave out what has a default', () => {
    expect(file([{ definition: { name: 'a', expression: '0 3 * * *' } }])().declarations).toEqual(
      declared(definition('a')),
    );
  });

  it.each([
    [[{ definition: { name: 'a' } }], 'a cron expression in build.json at 0.definition.expression, got nothing'],
    [[{ definition: { name: 'a b', expression: '@daily' } }], 'in build.json at 0.definition.name, got "a b"'],
    [[{ definition: { ...definition('a'), overlap: 'never' } }], 'queue-one, queue-all, replace, allow in build.json'],
    [[{ definition: { ...definition('a'), timezone: 'UTC' } }], 'no "timezone" in build.json at 0.definition'],
    [declared(definition('a', '0 0 30 2 *')), 'expression of "a" in build.json to be a valid cron expression'],
    [declared(definition('a', '@daily', { timeZone: 'Mars/Olympus' })), 'timeZone of "a" in build.json to be an IANA'],
    [declared(definition('a'), definition('a')), '"a" is declared twice'],
    ['text', 'an array of declarations, or an object with "declarations" in build.json, got "text"'],
  ])('is refused in one sentence: %j', (content, sentence) => {
    expect(file(content)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(sentence) }),
    );
  });

  it('is refused where it is no JSON', () => {
    expect(() => readDeclarations('[', 'build.json', FROM)).toThrow(/^Expected JSON .* in build\.json/);
  });
});
