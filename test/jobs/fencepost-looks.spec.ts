import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { fencepost, declared, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

describe('the reading commands of fencepost', () => {
  const spaces = redisSpaces();

  function deployment(
    declarations: Parameters<typeof FencepostDeployment.of>[1],
    over: { tenant?: string; prefix?: string } = {},
  ) {
    return FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh(), ...over }, declarations);
  }

  describe('fencepost list', () => {
    it('shows each cron in a column of its own, and to a program as JSON', async () => {
      const at = await deployment([declared('nightly'), declared('a-long-name-for-a-cron', '*/5 * * * *')]);
      const lines = (await at.ask('list')).out.trimEnd().split('\n');
      expect(lines).toHaveLength(3);
      expect(new Set(lines.slice(1).map((line) => line.indexOf('UTC'))).size).toBe(1);
      const { json, code } = await at.json('list');
      expect(code).toBe(0);
      expect(json).toMatchObject([
        { name: 'a-long-name-for-a-cron', state: 'active', paused: null, last: null, app: 'app', revision: 7 },
        { name: 'nightly', expression: '0 3 * * *', next: expect.stringMatching(/T03:00:00\.000Z$/) },
      ]);
    });
  });

  describe('the tenant', () => {
    it('is the only one that has crons, and that is said', async () => {
      const at = await deployment([declared('nightly')], { tenant: 'acme' });
      const { json, err } = await at.json('list');
      expect(json).toHaveLength(1);
      expect(err).toBe('The tenant "default" has no crons here; using "acme", the only one that has.\n');
    });

    it('is "default" where that has crons, without a word', async () => {
      const { prefix } = await deployment([declared('theirs')], { tenant: 'acme' });
      const at = await deployment([declared('ours')], { prefix });
      const { json, err } = await at.json('list');
      expect([json, err]).toEqual([[expect.objectContaining({ name: 'ours' })], '']);
    });

    it('has to be named where several have crons', async () => {
      const { prefix } = await deployment([declared('nightly')], { tenant: 'acme' });
      const at = await deployment([declared('nightly')], { tenant: 'umbrella', prefix });
      const { code, out, err } = await at.ask('list');
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/^Expected --tenant, since 2 have crons under the prefix "test-[^"]+": acme, umbrella\.\n$/);
      expect((await at.json('list', '--tenant', 'umbrella')).json).toHaveLength(1);
    });
  });

  describe('fencepost audit', () => {
    it('finds nothing where there was nothing to account for, and does not boast', async () => {
      const at = await deployment([declared('nightly')]);
      const { code, json } = await at.json('audit');
      expect([code, json]).toEqual([0, expect.objectContaining({ ok: true, missed: 0, doubled: 0, unexplained: 0 })]);
      expect((await at.ask('audit')).out).toContain('There are no instants in this range.');
    });

    it('fails for instants that nobody has seen to', async () => {
      const at = await deployment([declared('each-second', '* * * * * *')]);
      const look = async () => {
        await at.membership.heartbeat('scheduler/1');
        return at.json('audit', '--cron', 'each-second');
      };
      await expect.poll(look, { timeout: 25_000, interval: 500 }).toMatchObject({ code: 1, json: { ok: false } });
      const { out } = await at.ask('audit');
      expect(out).toMatch(/^missed {2}each-second {2}/);
      expect(out).toMatch(/NOT every instant is accounted for\.\n$/);
    });
  });

  describe('fencepost lint and plan', () => {
    it('lints what fires, and not what was removed', async () => {
      const berlin = { timeZone: 'Europe/Berlin' };
      const at = await deployment([declared('nightly', '30 2 * * *', berlin), declared('noon', '0 12 * * *', berlin)]);
      expect(await at.json('lint')).toMatchObject({
        code: 1,
        json: { ok: false, crons: 2, findings: [{ rule: 'dst', crons: ['nightly'] }] },
      });
      await at.catalog.remove('nightly', { expected: 1, by: 'otto', reason: null });
      expect(await at.json('lint')).toMatchObject({ code: 0, json: { ok: true, crons: 1 } });
    });

    it('plans a deploy from stdin, and changes nothing', async () => {
      const at = await deployment([declared('nightly'), declared('weekly', '0 4 * * 1')]);
      const before = await at.catalog.read();
      const deploy = JSON.stringify([declared('nightly', '0 5 * * *'), declared('hourly', '0 * * * *')]);
      const args = ['plan', '-', '--days', '7', '--json'];
      const read = async (file: string) => (file === '-' ? deploy : '[]');
      const { code, json } = await fencepost(args, { env: at.env, read });
      expect(code).toBe(0);
      expect(json).toMatchObject({
        ok: true,
        app: 'app',
        new: ['hourly'],
        changed: ['nightly'],
        removed: ['weekly'],
      });
      expect((json as { crons: unknown[] }).crons).toMatchObject([
        { cron: 'nightly', gone: { count: 7 }, added: { count: 7 } },
        { cron: 'hourly', added: { count: 168 } },
        { cron: 'weekly', gone: { count: 1 } },
      ]);
      const other = await fencepost([...args, '--app', 'other'], { env: at.env, read });
      expect([other.code, other.json]).toEqual([
        1,
        expect.objectContaining({ app: 'other', foreign: ['nightly'], new: ['hourly'], removed: [] }),
      ]);
      const after = await at.catalog.read();
      expect(after).toEqual({ ...before, readAt: after.readAt });
    });
  });
});

const COMMANDS = [
  'next',
  'lint',
  'plan',
  'list',
  'set',
  'remove',
  'pause',
  'resume',
  'trigger',
  'cancel',
  'backfill',
  'audit',
  'torture',
];

describe('the command line of fencepost', () => {
  it('is explained: all commands, and each of them', async () => {
    const { code, out } = await fencepost(['--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('Exit codes:')]);
    for (const command of COMMANDS) {
      expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
      const help = await fencepost([command, '--help']);
      expect(help).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`Usage: fencepost ${command}`) });
      expect(help.out).toMatch(/^ {2}--json /m);
    }
  });

  it.each([
    [['launch'], 'Unknown command \'launch\'. Run "fencepost --help".'],
    [['lsit'], "Unknown command 'lsit'. Did you mean list? Run"],
    [['list', '--failing', '--state', 'late'], 'cannot be used with option'],
    [['next', '30', '2', '*', '*', '*'], 'Too many arguments'],
    [['next', '0 25 * * *'], 'the hour field takes values from 0 to 23'],
    [['next', '@daily', '--tz', 'Mars/Olympus'], 'an IANA time zone such as "Europe/Berlin"'],
    [['next', '@daily', '--from', '2026-03-28T02:30:00'], 'Use an instant with offset'],
    [['next', '@daily', '--from', '2026-02-30'], 'Use an instant with offset'],
    [['next', '@daily', '-n', '0'], 'Use a whole number from 1'],
    [['next', 'H 3 * * *'], '--seed with the name of the cron is required'],
    [['pause', 'nightly'], 'Required option \'--reason <words>\' not specified. Run "fencepost pause --help".'],
    [['pause', 'nightly', '--reason', ' '], 'A reason is required'],
    [['list', '--redis', 'localhost:6379'], 'to be a redis:// or rediss:// address'],
    [['lint', '--tz', 'Europe/Berlin'], '--expression is required with --tz'],
  ])('refuses %j with 2 and a sentence', async (args, sentence) => {
    const ended = await fencepost(args);
    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining(sentence) });
    expect(ended.err).toMatch(/^(?:[A-Z"]|--).*[."]\n$/);
  });
});

const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts'];

describe('the fencepost program', { timeout: 120_000 }, () => {
  const ROOT = join(import.meta.dirname, '../..');

  it('ends in order when nobody reads on, as behind "head"', async () => {
    const args = [...PROGRAM, 'next', '* * * * * *', '-n', '100000'];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [[code, signal], err] = await ended;
    expect({ code: code as unknown, signal: signal as unknown, err }).toEqual({ code: 0, signal: null, err: '' });
  });
});
