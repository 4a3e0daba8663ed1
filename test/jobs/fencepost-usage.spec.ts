import { describe, expect, it } from 'vitest';
import { fencepost } from '../support/fencepost.js';

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

  it('is asked for where there is none', async () => {
    expect(await fencepost([])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: fencepost') });
  });

  it.each([
    [['launch'], "unknown command 'launch'"],
    [['next', '30', '2', '*', '*', '*'], 'too many arguments'],
    [['next', '0 25 * * *'], 'the hour field takes values from 0 to 23'],
    [['next', '@daily', '--tz', 'Mars/Olympus'], 'an IANA time zone such as "Europe/Berlin"'],
    [['next', '@daily', '--from', '2026-03-28T02:30:00'], 'Use an instant with offset'],
    [['next', '@daily', '--from', '2026-02-30'], 'Use an instant with offset'],
    [['next', '@daily', '-n', '0'], 'Use a whole number from 1'],
    [['next', 'H 3 * * *'], '--seed with the name of the cron is required'],
    [['pause', 'nightly'], "required option '--reason <words>' not specified"],
    [['pause', 'nightly', '--reason', ' '], 'A reason is required'],
    [['list', '--redis', 'localhost:6379'], 'to be a redis:// or rediss:// address'],
    [['lint', '--tz', 'Europe/Berlin'], '--expression is required with --tz'],
  ])('refuses %j with 2 and a sentence', async (args, sentence) => {
    const ended = await fencepost(args);
    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining(sentence) });
    expect(ended.err.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  });
});
