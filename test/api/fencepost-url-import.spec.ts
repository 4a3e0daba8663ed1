import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRETS } from '../support/scheduler-app.js';
import { startTwoWays, type TwoWays } from '../support/two-ways.js';
import type { Said } from '../support/fencepost.js';

let ways: TwoWays;
beforeAll(async () => {
  ways = await startTwoWays();
});
afterAll(() => ways.running.close());

const REASON = ['--reason', 'a tenant'];
const cron = (n: number, over: object = {}) =>
  JSON.stringify({ name: `t.${n}`, expression: '0 3 1 1 *', tags: ['t'], ...over });

interface Around {
  readonly file?: string;
  readonly signal?: AbortSignal;
}

/** Only an admin may set a cron. */
function ask(way: 'direct' | 'remote', args: readonly string[], { file = '', signal }: Around = {}): Promise<Said> {
  const env = way === 'direct' ? ways.direct : { ...ways.remote, FENCEPOST_TOKEN: SECRETS.admin };
  const around = { env, read: async () => file, ...(signal && { interrupted: () => signal }) };
  return ways.ask(way, args, around);
}

describe.each(['direct', 'remote'] as const)('fencepost import and export, %s', (way) => {
  const base = way === 'direct' ? 10_000 : 20_000;
  const file = Array.from({ length: 2_100 }, (_, n) => cron(base + n)).join('\n');

  it('creates every cron of a file, and says so in one line of JSON; the second time changes nothing', async () => {
    const first = await ask(way, ['import', 'crons.ndjson', ...REASON, '--json'], { file });
    expect(first.json).toMatchObject({
      total: 2_100,
      asked: 2_100,
      created: 2_100,
      failed: 0,
      stopped: null,
      goOn: null,
    });
    expect(first.code).toBe(0);
    const again = await ask(way, ['import', '-', ...REASON], { file: `${file}\n` });
    expect(again.out).toMatch(/2100 crons:\n +0 +created\n +0 +changed\n +2100 +unchanged\n$/);
  });

  it('prints what it takes', async () => {
    const { out, code } = await ask(way, ['export', '--tag', 't']);
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line.includes(`"t.${base}"`))).toHaveLength(1);
    const again = await ask(way, ['import', '-', ...REASON, '--dry-run', '--json'], { file: out });
    expect(again.json).toMatchObject({ dryRun: true, created: 0, changed: 0 });
  });

  it('changes nothing where a line is invalid, and names each with its number', async () => {
    const bad = [
      cron(base + 9_000),
      cron(base + 9_001, { expression: '61 * * * *' }),
      cron(base + 9_002, { grace: 'soon' }),
    ];
    const { code, out } = await ask(way, ['import', 'crons.ndjson', ...REASON], { file: bad.join('\n') });
    expect([code, out]).toEqual([
      2,
      expect.stringMatching(/^Nothing was written: 2 of 3 crons are invalid\.\nline 2: [^]*\nline 3: /),
    ]);
    const unread = await ask(way, ['import', 'crons.ndjson', ...REASON, '--json'], { file: 'no json\n' });
    expect([unread.code, unread.json]).toMatchObject([2, { count: 1, problems: [{ line: 1, code: 'NOT_JSON' }] }]);
    expect((await ask(way, ['show', `t.${base + 9_000}`])).code).toBe(2);
  });

  it('ends at Ctrl-C with the command that goes on', async () => {
    const stop = new AbortController();
    stop.abort();
    const { code, out } = await ask(way, ['import', "a 'file'", ...REASON], { file, signal: stop.signal });
    expect(code).toBe(1);
    expect(out).toMatch(/To continue:\n {2}fencepost import 'a '\\''file'\\''' --reason 'a tenant'\n$/);
  });

  it('lists as many crons as asked for, and the rest from where it ended', async () => {
    const first = await ask(way, ['list', '--search', `t.${base}`.slice(0, 3), '--limit', '3', '-o', 'name']);
    expect(first.out).toBe(`t.${base}\nt.${base + 1}\nt.${base + 2}\n`);
    const [, after = ''] = /--after (\S+)/.exec(first.err) ?? [];
    const next = await ask(way, [
      'list',
      '--search',
      `t.${base}`.slice(0, 3),
      '--limit',
      '2',
      '--after',
      after,
      '-o',
      'name',
    ]);
    expect(next.out).toBe(`t.${base + 3}\nt.${base + 4}\n`);
    const all = await ask(way, ['list', '--search', `t.${base}`.slice(0, 3), '--all', '-o', 'name']);
    expect(all.out.trimEnd().split('\n')).toHaveLength(2_100);
    expect(all.err).toBe('');
  });
});

it('completion knows both commands', async () => {
  const { out } = await ways.ask('direct', ['completion', 'bash']);
  expect(out).toContain(' import');
  expect(out).toContain(' export');
});
