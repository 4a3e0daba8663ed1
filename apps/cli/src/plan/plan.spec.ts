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
    by: 'app build 7',
    reason: null,
    zoneData: '2026a',
  } as const;
  return { ...made, definition: of, past: [], source: 'app', buildSeq: 7, ...more };
}

function declared(...definitions: CronDefinition[]): Declaration[] {
  return definitions.map((each) => ({ definition: each, disabled: false }));
}

function look(live: readonly CatalogEntry[], declarations: readonly Declaration[], buildSeq: number | null = 8) {
  const span = { from: FROM, to: TO };
  const found = plan({ live, build: { source: 'app', buildSeq, declarations }, ...span });
  const report = planReport(found, span);
  return { ...found, report, kinds: found.changes.map(({ cron, change }) => `${cron} ${change}`) };
}

describe('plan', () => {
  it('has nothing to tell of a build that declares what is live', () => {
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

  it('removes what the program declared before, and nothing of another one or made by hand', () => {
    const live = [
      entry(definition('mine')),
      entry(definition('theirs'), { source: 'other' }),
      entry(definition('by-hand'), { source: null, buildSeq: null }),
      entry(definition('gone'), { state: 'removed' }),
    ];
    const { kinds, changes } = look(live, []);
    expect(kinds).toEqual(['mine removed']);
    expect(changes[0]?.instants.gone.count).toBe(7);
  });

  it('fails for an older build, which defines and removes nothing', () => {
    const live = [entry(definition('a')), entry(definition('b'))];
    const { kinds, report, changes } = look(live, declared(definition('a', '0 4 * * *'), definition('c')), 6);
    expect(kinds).toEqual(['a older', 'c older']);
    expect(changes[0]?.instants.added.count).toBe(0);
    expect(report).toMatchObject({ code: 1, json: { ok: false, standing: 'older', notDefined: ['a', 'c'] } });
    expect(report.text(200).at(-1)).toContain('Build 6 of app is older than 7');
  });

  it('fails for an equal build with other content, and lets it add what is new', () => {
    const live = [entry(definition('a')), entry(definition('b'))];
    const { kinds, report } = look(live, declared(definition('a', '0 4 * * *'), definition('c')), 7);
    expect(kinds).toEqual(['a conflict', 'c new']);
    expect(report).toMatchObject({ code: 1, json: { conflicts: ['a'], new: ['c'], removed: [] } });
  });

  it('takes a build without a number for the next one', () => {
    expect(look([entry(definition('a'))], [], null)).toMatchObject({ standing: 'newer', kinds: ['a removed'] });
  });

  it('asks which program it is where several declare', () => {
    const live = [entry(definition('a')), entry(definition('b'), { source: 'other' })];
    const build = { source: null, buildSeq: 8, declarations: [] };
    expect(() => plan({ live, build, from: FROM, to: TO })).toThrow(/--source.*app, other/);
  });

  it('keeps to the width of a terminal', () => {
    const { report } = look([entry(definition('a'))], declared(definition('a', '*/7 4 * * *')));
    expect(report.text(80).every((line) => line.length <= 80)).toBe(true);
  });
});

describe('the file with the declarations of a build', () => {
  const file = (content: unknown) => () => readDeclarations(JSON.stringify(content), 'build.json', FROM);

  it('is an array, or an object that says which build it is', () => {
    const [one] = declared(definition('a'));
    expect(file([one])()).toEqual({ source: null, buildSeq: null, declarations: [one] });
    expect(file({ source: 'app', buildSeq: 9, declarations: [one] })()).toMatchObject({ source: 'app', buildSeq: 9 });
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
