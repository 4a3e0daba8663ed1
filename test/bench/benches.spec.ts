import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { Tally } from '../../bench/run/tally.mjs';
import { ensureBuilt } from '../../scripts/build.mjs';
import { helpOf, readOptions } from '../../bench/command.mjs';

interface Case {
  readonly name: string;
  readonly ours?: unknown;
  readonly peers?: unknown;
  readonly who?: unknown;
  readonly claims: readonly object[];
  readonly renewal?: { readonly crons: number; readonly session: { readonly requests: number } };
}

interface Claim {
  readonly name: string;
  readonly measured: number;
  readonly holds: boolean | null;
}

interface Result {
  readonly cases: readonly Case[];
}

function expectNothingJudged(claims: readonly object[]): void {
  for (const claim of claims) expect(claim).toMatchObject({ measured: expect.any(Number), holds: null });
}

describe('the benches', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));

  async function bench(program: string, ...args: readonly string[]) {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, [`bench/${program}.mjs`, ...args], { cwd: root, stdio: [...stdio] });
    const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
    return { code: code as number | null, out, err };
  }

  /** Its closing line. */
  async function quickly<T = Result>(program: string, ...args: readonly string[]): Promise<T> {
    const { code, out, err } = await bench(program, '--json', '--quick', ...args);
    expect({ code, lines: out.trim().split('\n').length }, err).toEqual({ code: 0, lines: 1 });
    return JSON.parse(out) as T;
  }

  beforeAll(() => ensureBuilt(), 600_000);

  // What they measure is not looked at: how fast something was in a test says nothing.
  describe('a bench in its quick form', { timeout: 300_000 }, () => {
    it('of leases closes with one line that has every contender of every case, and judges nothing', async () => {
      const result = await quickly('lease', '--cases', 'alone,together,renewals');
      expect(result).toMatchObject({ ok: true, quick: true, rounds: 1, seed: 1 });
      expect(result.cases.map(({ name }) => name)).toEqual(['alone', 'together', 'renewals']);
      for (const { ours, peers, claims } of result.cases) {
        expect(ours).toBeGreaterThan(0);
        expect(peers).toMatchObject({ bare: expect.any(Number) });
        expect(claims).toContainEqual(expect.objectContaining({ measured: expect.any(Number), holds: null }));
      }
      expect(result.cases[0]?.peers).toMatchObject({
        'redlock 4.2': expect.any(Number),
        'raw socket': expect.any(Number),
      });
    });

    it('of runs closes with one line that has every case, and judges nothing', async () => {
      const result = await quickly('run', '--cases', 'redis,inside,effect,heartbeats');
      expect(result).toMatchObject({ ok: true, quick: true });
      expect(result.cases.map(({ name }) => name)).toEqual(['redis', 'inside', 'effect', 'heartbeats']);
      const window = { windows: 1, perSecond: expect.any(Number), nodeUs: expect.any(Number) };
      expect(result.cases[0]?.who).toMatchObject({ bare: window, redis: window });
      for (const { claims } of result.cases) expectNothingJudged(claims);
    });

    it('of memory says what a run, an effect, an idle cron and a bare job take, and judges nothing', async () => {
      const { bytes, claims } = await quickly<{ bytes: Record<string, number>; claims: object[] }>('memory');
      expect(Object.keys(bytes)).toEqual(['run', 'effect', 'idleCron', 'bareJob']);
      for (const taken of Object.values(bytes)) expect(taken).toBeGreaterThan(0);
      expectNothingJudged(claims);
    });

    it('of stores closes with one line that has every store, against a bare request of its server and of Redis', async () => {
      const asked = ['memory', 'redis', 'quorum', 'postgres', 'etcd'];
      const result = await quickly('stores', '--cases', asked.join(','));
      expect(result).toMatchObject({ ok: true, quick: true, rounds: 1 });
      expect(result.cases.map(({ name }) => name)).toEqual(asked);
      const [memory, ...served] = result.cases;
      expect(memory).toMatchObject({ ratio: expect.any(Number), bareRatio: null });
      for (const kase of served)
        expect(kase).toMatchObject({ ratio: expect.any(Number), bareRatio: expect.any(Number) });
      // In memory nothing is asked, and a quorum has no sessions.
      expect(result.cases.map(({ renewal }) => renewal?.crons)).toEqual([undefined, 10, undefined, 10, 10]);
      const asSession = result.cases.flatMap(({ renewal }) => renewal?.session.requests ?? []);
      expect(Math.max(...asSession)).toBeLessThan(10);
    });

    it('of ticks closes with one line that has every case, and judges nothing', async () => {
      const result = await quickly('tick', '--cases', 'idle,timers');
      expect(result).toMatchObject({ ok: true, quick: true });
      expect(result.cases.map(({ name }) => name)).toEqual(['idle', 'timers']);
      expect(result.cases[0]?.ours).toEqual({ commandsPerSecondOf50: expect.any(Number) });
      expect(result.cases[1]?.ours).toMatchObject({ crons: 1_000, heapMB: expect.any(Number) });
      for (const { claims } of result.cases) expectNothingJudged(claims);
    });

    it('of scale closes with one line that has every case for every number, and judges counts and no times', async () => {
      const { out, err } = await bench('scale', '--json', '--quick', '--crons', '50', '--cases', 'pods,takeover,burst');
      const result = JSON.parse(out || '{}') as Result;
      expect(
        result.cases.map(({ name }) => name),
        err,
      ).toEqual(['pods', 'takeover', 'burst']);
      const counts = result.cases
        .flatMap(({ claims }) => claims as readonly Claim[])
        .filter(({ holds }) => holds !== null);
      expect(counts.map(({ name }) => name)).toEqual([
        'bytes of Redis per idle cron',
        'instants lost',
        'of them lost',
        'instants of others lost',
      ]);
      expect(counts.slice(1).map(({ measured }) => measured)).toEqual([0, 0, 0]);
      expect(result.cases[2]).toMatchObject({ peers: { 'addBulk alone': { allMs: expect.any(Number) } } });
    });

    it('of scale finds as many commands inside Redis on an idle system, whatever the number of crons', async () => {
      type Idle = { cases: { ours: { commandsPerSecond: number } }[] };
      const { out, err } = await bench('scale', '--json', '--quick', '--crons', '40,400', '--cases', 'idle');
      const [few, many] = (JSON.parse(out || '{"cases":[]}') as Idle).cases.map(({ ours }) => ours.commandsPerSecond);
      expect(few, err).toBeGreaterThan(1);
      expect((many ?? Infinity) / (few ?? 1)).toBeLessThan(2);
    });

    it('of viewers closes with one line about a calm window and one with viewers, and judges nothing', async () => {
      type Viewed = { calm: { ticks: number }; seen: { answered: number }; claims: object[] };
      const result = await quickly<Viewed>('viewers', '--seconds', '3');
      expect(result).toMatchObject({ ok: true, quick: true, seconds: 3, viewers: 10 });
      expect(result.calm.ticks).toBeGreaterThan(0);
      expect(result.seen.answered).toBeGreaterThan(0);
      expect(result.claims).toHaveLength(3);
      expectNothingJudged(result.claims);
    });
  });

  describe('a bench', () => {
    it.each([
      ['lease', ['--cases', 'sideways'], /^Expected a case out of alone, .*, got "sideways"\.\n$/],
      ['run', ['--cases', 'sideways'], /^Expected a case out of redis, .*, got "sideways"\.\n$/],
      ['scale', ['--crons', '1000,many'], /^Expected --crons as a whole number from 1, got "many"\.\n$/],
      ['stores', ['--cases', 'sideways'], /^Expected a case out of memory, .*, got "sideways"\.\n$/],
      ['tick', ['--cases', 'sideways'], /^Expected a case out of handover, .*, got "sideways"\.\n$/],
      ['viewers', ['--viewers', 'many'], /^Expected --viewers as a whole number from 1, got "many"\.\n$/],
    ])('of %ss refuses %j with what it can be, and starts nothing', async (program, option, sentence) => {
      const { code, out, err } = await bench(program, ...option);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(sentence);
    });

    it('ends a window with the first handler that throws', async () => {
      const tally = new Tally();
      const window = tally.window(2, async () => {
        tally.count();
        tally.fail(new Error('the handler broke'));
      });
      await expect(window).rejects.toThrow('the handler broke');
    });
  });
});

const BENCH = {
  name: 'bench:made-up',
  numbers: {
    rounds: { says: 'rounds that count', default: 11, quick: 1 },
    seed: { says: 'of the order', default: 1, min: 0 },
  },
  lists: { crons: { says: 'numbers of crons', default: [1_000, 10_000], quick: [100] } },
  files: { module: 'what is measured' },
  cases: ['alone', 'together'],
  quick: 'judges nothing',
};

const NOTHING = {
  json: false,
  quick: false,
  help: false,
  rounds: 11,
  seed: 1,
  crons: [1_000, 10_000],
  cases: ['alone', 'together'],
};

describe('the options of a bench', () => {
  it('all have defaults, which --quick changes', () => {
    expect(readOptions(BENCH, [])).toEqual(NOTHING);
    expect(readOptions(BENCH, ['--quick'])).toEqual({ ...NOTHING, quick: true, rounds: 1, crons: [100] });
  });

  it('are read as numbers, cases and files', () => {
    const args = '--json -h --rounds 3 --seed=0 --crons 7,70 --cases together --module schedule.js'.split(' ');
    const given = {
      json: true,
      help: true,
      rounds: 3,
      seed: 0,
      crons: [7, 70],
      cases: ['together'],
      module: 'schedule.js',
    };
    expect(readOptions(BENCH, args)).toEqual({ ...NOTHING, ...given });
  });

  it.each([
    ['--rounds=0', 'Expected --rounds as a whole number from 1, got "0".'],
    ['--rounds=many', 'Expected --rounds as a whole number from 1, got "many".'],
    ['--cases=alone,sideways', 'Expected a case out of alone, together, got "sideways".'],
    ['--viewers=3', "Unknown option '--viewers'"],
  ])('are refused when %s', (arg, sentence) => {
    expect(() => readOptions(BENCH, [arg])).toThrow(sentence);
  });

  it('are all in the help', () => {
    for (const name of Object.keys(NOTHING)) expect(helpOf(BENCH)).toContain(`--${name}`);
    expect(helpOf(BENCH)).toContain('--module <file>');
  });
});
