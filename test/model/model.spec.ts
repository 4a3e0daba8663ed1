import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { TRANSITIONS, type RunEvent, type RunState } from '@fencepost/ledger/run';
import { DEFENCES } from './defences.js';
import { QUICK_CONFIGURATIONS, CLAIMS } from './bounds.js';
import { readReport } from './report.js';
import { readSteps, wordsOf } from './checker.js';

const PATIENCE_MS = 240_000;

interface Result {
  readonly ok: boolean;
  readonly spin: string;
  readonly configurations: readonly Record<'name' | 'states' | 'exhaustive' | 'errors', unknown>[];
  readonly defences: readonly Record<'name' | 'counterexample' | 'steps', unknown>[];
}

describe('the model', () => {
  const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));

  async function model(...args: readonly string[]) {
    const child = spawn(process.execPath, [RUNNER, 'test/model/run-model.ts', ...args], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
    });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { out, err, code: code as number };
  }

  let run: Awaited<ReturnType<typeof model>>;
  let result: Result;
  beforeAll(async () => {
    run = await model('--quick', '--json');
    result = JSON.parse(run.out.trim().split('\n').at(-1) ?? '') as Result;
  }, PATIENCE_MS);

  it('holds in every state of every small room', () => {
    const models = QUICK_CONFIGURATIONS.map(({ name }) =>
      expect.objectContaining({ name, exhaustive: true, errors: 0 }),
    );
    expect(result.configurations).toEqual(models);
  });

  it('does damage without any single defence', () => {
    const missed = DEFENCES.map(({ name, property }) =>
      expect.objectContaining({ name, property, counterexample: true, steps: expect.any(Number) }),
    );
    expect(result.defences).toEqual(missed);
  });

  it('prints the way to the damage in words', () => {
    expect(run.err).toContain('claims instant 0 under fence 2 -> CLAIMED');
    expect(run.err).toContain('=> I7 is broken: an effect that asks never happens twice by itself');
    expect(run.err).not.toMatch(/#\d/);
  });

  it('says that it holds', () => {
    expect([result.ok, run.code]).toEqual([true, 0]);
  });

  it(
    'refuses a defence that it does not know',
    async () => {
      const { err, code } = await model('--only', 'LUCK');
      expect(code).toBe(1);
      expect(err).toContain('Expected --only to name a defence, got "LUCK"');
    },
    PATIENCE_MS,
  );
});

const THROUGH = `
(Spin Version 6.5.2 -- 6 December 2019)
State-vector 252 byte, depth reached 107, errors: 0
   394191 states, stored
  2.5e+07 states, matched
1.31589e+06 transitions (= stored+matched)
pan: elapsed time 1.26 seconds`;

describe('a report', () => {
  it('has what was counted', () => {
    expect(readReport(THROUGH)).toEqual({
      ...{ states: 394_191, transitions: 1_315_890, depth: 107 },
      ...{ exhaustive: true, errors: 0 },
    });
  });

  it.each([
    'Warning: Search not completed',
    'error: max search depth too small',
    'pan: out of memory',
    'pan: reached -DMEMLIM bound\nWarning: Search not completed',
  ])('is not exhaustive after "%s"', (line) => {
    expect(readReport(`${line}\n${THROUGH}`).exhaustive).toBe(false);
  });

  it('is not exhaustive when the search was ended from outside', () => {
    expect(readReport(THROUGH, 'it took too long').exhaustive).toBe(false);
  });

  it('is no report when it says nothing of errors', () => {
    expect(() => readReport('Killed', 'signal 9')).toThrow('The checker has said nothing of errors: signal 9');
  });
});

describe('steps', () => {
  const replay = [
    'pod 1 claims instant 0 under fence 1',
    '= #39',
    'worker 0 begins run 0',
    'BROKEN #56',
    'pan:1: assertion violated 0 (at depth 37)',
    '\tmtype  reply:\t56',
    '\tmtype  STALE:\t39',
    '\tmtype  I6:\t56',
  ].join('\n');

  it('join an answer to what was asked, and name what broke', () => {
    expect(readSteps(replay)).toEqual({
      steps: ['pod 1 claims instant 0 under fence 1 -> STALE', 'worker 0 begins run 0'],
      claim: 'I6',
    });
  });

  it('name no claim that is none', () => {
    expect(readSteps('pod 1 dies\nBROKEN #7').claim).toBeNull();
  });
});

/** How the model writes what causes a transition. */
const EVENTS: Partial<Record<RunEvent, string>> = {
  claim: '.state = claimed',
  skip: '.state = skipped',
  confirm: 'become(i, enqueued)',
  begin: 'become(i, running)',
  exhaust: 'become(i, failed); reply = TERMINAL',
  retry: 'how == retry -> enqueued',
  orphan: 'become(i, orphaned)',
  succeed: 'ends(me, succeeded)',
  fail: 'hand[me].last -> failed',
  'need-operator': 'ends(me, uncertain)',
  answer: 'become(i, enqueued);\n     ledger.runs[i].extra++',
  'give-up': 'giveUp(theRun)',
  cancel: 'become(0, cancelled)',
};

/** Both end a run that waits, as a cancel does; that it ends once is I6. */
const LEFT_OUT: Partial<Record<RunEvent, string>> = {
  supersede: 'queue-one and replace are not modelled',
  expire: 'the start deadline is a number of time',
};

const PLACES = [
  'test/model/',
  'libs/lease/src/lua/',
  'libs/lease/src/redis/',
  'libs/lease/src/holding/',
  'libs/ledger/src/redis/lua/',
  'libs/ledger/src/base/',
  'libs/jobs/src/scheduling/',
  'libs/jobs/src/running/',
  'libs/jobs/src/queue/lua/',
];

function isSize(name: string): boolean {
  return ['SCHEDULERS', 'WORKERS', 'INSTANTS', 'MEMBERS', 'MAX_SESSIONS'].includes(name);
}

describe('the vocabulary of the model', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));

  const folder = `${root}test/model/promela/`;

  const sources = readdirSync(folder).map((name) => readFileSync(folder + name, 'utf8'));

  const model = sources.join('\n');

  const words = wordsOf(readFileSync(`${folder}world.pml`, 'utf8'));

  const readme = readFileSync(`${root}test/model/README.md`, 'utf8');

  function answersOf(...scripts: readonly string[]): string[] {
    const headers = scripts.map((name) => readFileSync(`${root}libs/ledger/src/redis/lua/${name}.lua`, 'utf8'));
    const returns = headers.map((header) => /^-- Returns[\s\S]*?^--$/m.exec(header)?.[0] ?? '');
    return [...new Set(returns.flatMap((body) => [...body.matchAll(/\{'([A-Z_]+)'/g)].map(([, name = '']) => name)))];
  }

  it('has every state that a run can be in', () => {
    const states: RunState[] = TRANSITIONS.flatMap(({ from, to }) => (from === null ? [to] : [from, to]));
    expect(words).toEqual(expect.arrayContaining([...new Set(states)]));
  });

  it('has every event, or a reason why it is left out', () => {
    const events = [...new Set(TRANSITIONS.map(({ event }) => event))];
    expect(Object.keys({ ...EVENTS, ...LEFT_OUT }).toSorted()).toEqual(events.toSorted());
    for (const written of Object.values(EVENTS)) expect(model).toContain(written);
  });

  it('has every answer of the scripts that it follows, or leaves out what only refuses more', () => {
    const verdicts = answersOf('claim-occurrences', 'begin-attempts', 'begin-effect', 'finish-effect');
    const leftOut = [
      'EARLY',
      'STALE_DEFINITION',
      'RECORDED',
      'NOT_DUE',
      'UNCERTAIN',
      'MISSING',
      'FENCE_EXHAUSTED',
      'BROKEN',
    ];
    expect(verdicts.filter((verdict) => !words.includes(verdict) && !leftOut.includes(verdict))).toEqual([]);
    expect(verdicts).toEqual(expect.arrayContaining(leftOut));
  });

  it('numbers the defences as the list does, and looks at each', () => {
    const numbers = [...model.matchAll(/^#define ([A-Z_]+) (\d+)$/gm)].filter(([, name]) => !isSize(name ?? ''));
    expect(numbers.map(([, name]) => name)).toEqual(DEFENCES.map(({ name }) => name));
    expect(numbers.map(([, , number]) => Number(number))).toEqual(DEFENCES.map((_, index) => index + 1));
    for (const { name } of DEFENCES) expect(model).toContain(`KEPT(${name})`);
  });

  it('holds every claim somewhere, and takes out a defence for it', () => {
    const held = new Set([...model.matchAll(/hold\((\w+),/g)].map(([, name = '']) => name));
    held.delete('name');
    expect([...held].toSorted()).toEqual(Object.keys(CLAIMS).toSorted());
    expect([...new Set(DEFENCES.map(({ property }) => property))].toSorted()).toEqual(Object.keys(CLAIMS).toSorted());
  });

  it('is described by files that exist', () => {
    const files = [...readme.matchAll(/`([\w/-]+\.(?:pml|lua|ts))`/g)].map(([, name = '']) => name);
    expect(files.filter((name) => !PLACES.some((place) => existsSync(`${root}${place}${name}`)))).toEqual([]);
  });
});
