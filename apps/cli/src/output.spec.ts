import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isColourful, paint, toned, widthOf } from './colour.js';
import { namesIn, printed } from './output.js';
import { whileWorking } from './progress.js';
import { program } from './program.js';
import { table } from './table.js';
import type { Setting } from './world.js';
import type { Command } from 'commander';

const AT_TERMINAL = { env: {}, terminal: true, width: 80 };
const IN_PIPE = { env: {}, terminal: false, width: Infinity };

const REPORT = {
  code: 0,
  json: [{ name: 'nightly', state: 'failed' }, { name: 'hourly' }],
  text: () => [`nightly ${toned('failed')}`],
  wide: () => [`nightly ${toned('failed')} otto`],
};

function leaves(command: Command): Command[] {
  return [command, ...command.commands.flatMap(leaves)];
}

describe('what a command prints', () => {
  it.each([
    [{}, 'nightly failed\n'],
    [{ output: 'table' }, 'nightly failed\n'],
    [{ output: 'wide' }, 'nightly failed otto\n'],
    [{ output: 'json' }, `${JSON.stringify(REPORT.json)}\n`],
    [{ json: true }, `${JSON.stringify(REPORT.json)}\n`],
    [{ output: 'name' }, 'nightly\nhourly\n'],
  ] as const)('is the same in a pipe as at a terminal, but for colours: %j', (flags, said) => {
    expect(printed(REPORT, flags, IN_PIPE)).toBe(said);
    expect(stripVTControlCharacters(printed(REPORT, flags, AT_TERMINAL))).toBe(said);
  });

  it('can be chosen in every command', () => {
    const world = { out: () => {}, err: () => {}, env: {} };
    const all = leaves(program({ world, answer: () => {} } as unknown as Setting));
    const without = all.filter(({ options }) => !options.some(({ long }) => long === '--output'));
    expect(without.map((command) => command.name())).toEqual(['fencepost', 'export', 'shadow']);
  });

  it.each([
    [
      [{ id: 'a@1', cron: 'a' }, { id: 'a@2' }],
      ['a@1', 'a@2'],
    ],
    [{ cron: 'a', runId: 'a@1' }, ['a@1']],
    [{ run: { id: 'a@1' }, effects: [{ name: 'charge' }] }, ['a@1']],
    [{ ok: true, findings: [{ cron: 'a' }, { cron: 'a' }, { cron: 'b' }] }, ['a', 'b']],
    [{ verdict: 'ok' }, []],
  ])('has the names of %j', (json, names) => expect(namesIn(json)).toEqual(names));
});

describe('long work', () => {
  it('is told at a terminal while it lasts, and leaves nothing behind there', async () => {
    let told = '';
    const tell = { err: (text: string) => void (told += text), errTerminal: true };
    const done = await whileWorking('Comparing', tell, async () => {
      await expect.poll(() => told, { timeout: 5_000 }).toContain('Comparing … 1 s');
      return 7;
    });
    expect(done).toBe(7);
    expect(told.endsWith('\r\u001B[2K')).toBe(true);
    told = '';
    await whileWorking('Comparing', { ...tell, errTerminal: false }, () => Promise.resolve());
    expect(told).toBe('');
  });
});

describe('colours', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ])('with %j, at a terminal: %s', (env, terminal, expected) => {
    expect(isColourful({ env, terminal })).toBe(expected);
    expect(printed(REPORT, {}, { env, terminal, width: 80 }).includes('\u001B[')).toBe(expected);
  });

  it('take no column of a table', () => {
    const rows = [
      [paint('red', 'failed'), 'a'],
      ['ok', 'b'],
    ];
    expect(table(rows, 80).map(stripVTControlCharacters)).toEqual(['failed  a', 'ok      b']);
    expect(widthOf(toned('failed (6 in a row)'))).toBe('failed (6 in a row)'.length);
  });
});
