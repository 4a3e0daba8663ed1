import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TRANSITIONS, type RunEvent, type RunState } from '../../libs/ledger/src/base/run-state.js';
import { CLAIMS } from './claims.js';
import { DEFENCES } from './defences.js';
import { wordsOf } from './steps.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}test/model/promela/`;
const sources = readdirSync(folder).map((name) => readFileSync(folder + name, 'utf8'));
const model = sources.join('\n');
const words = wordsOf(readFileSync(`${folder}world.pml`, 'utf8'));
const readme = readFileSync(`${root}test/model/README.md`, 'utf8');

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
  doubt: 'ends(me, uncertain)',
  answer: 'become(i, enqueued);\n     ledger.runs[i].extra++',
  'give-up': 'giveUp(theRun)',
  cancel: 'become(0, cancelled)',
};

/** Both end a run that waits, as a cancel does; that it ends once is I6. */
const LEFT_OUT: Partial<Record<RunEvent, string>> = {
  supersede: 'queue-one and replace are not modelled',
  expire: 'the start deadline is a number of time',
};

describe('the vocabulary of the model', () => {
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

const PLACES = [
  'test/model/',
  'libs/lease/src/lua/',
  'libs/ledger/src/redis/lua/',
  'libs/ledger/src/base/',
  'libs/jobs/src/scheduling/',
  'libs/jobs/src/running/',
];

function isSize(name: string): boolean {
  return ['SCHEDULERS', 'WORKERS', 'INSTANTS'].includes(name);
}

function answersOf(...scripts: readonly string[]): string[] {
  const headers = scripts.map((name) => readFileSync(`${root}libs/ledger/src/redis/lua/${name}.lua`, 'utf8'));
  const returns = headers.map((header) => /^-- Returns[\s\S]*?^--$/m.exec(header)?.[0] ?? '');
  return [...new Set(returns.flatMap((text) => [...text.matchAll(/\{'([A-Z_]+)'/g)].map(([, name = '']) => name)))];
}
