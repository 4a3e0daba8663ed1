import { parseDuration } from '@fencepost/lease/internal/options';
import type { Run } from '@fencepost/ledger/run';
import { findingsOf } from './findings.js';
import { MISHAP_KINDS, type MishapKind, type TortureMishap } from './mishap.js';
import { mixedMishaps, singleMishaps, type KnownEffect } from './scenarios.js';
import type { Request, Observations } from './observations.js';
import { playOnce, type JobUnderTorture } from './play-once.js';
import { verdictOn, type Played, type TorturedEffect } from './verdict.js';

export interface TortureOptions {
  /** Made anew for each run, so that none remembers another: instances of decorated classes, Nest applications. */
  readonly crons: () => readonly object[] | Promise<readonly object[]>;
  /** The name of a cron or of a job. */
  readonly job: string;
  /** Of a job that takes one. */
  readonly payload?: unknown;
  /** For how long it looks, by the real clock; `'10s'` by default. The fail points of the job come first, one at a time. */
  readonly lasts?: string | number;
  /** Several mishaps in one run, so many times at the most: then a torture is the same on any machine that has the time. */
  readonly rounds?: number;
  /** Of what happens together; default 1. */
  readonly seed?: number;
  /** Of all runs only this one, after the undisturbed one: to see again what {@link TorturedEffect.only} names. */
  readonly only?: number;
  /** Effects that change nothing: they may be repeated. */
  readonly harmless?: readonly string[];
  /** Called after each run, to let go of what {@link crons} has made. */
  readonly close?: () => Promise<void> | void;
}

export interface TortureReport {
  /** Every effect is safe, as far as was seen, and the undisturbed run succeeded. */
  readonly ok: boolean;
  readonly seed: number;
  readonly job: string;
  readonly runs: number;
  /** How often which has happened. */
  readonly mishaps: Readonly<Record<MishapKind, number>>;
  readonly effects: readonly TorturedEffect[];
  /** What the reader has to know beside: whole sentences. */
  readonly notes: readonly string[];
}

const BLIND =
  'What a handler does outside of effects is repeated with each attempt and can not be seen here, nor whether a provider ' +
  'honours the key or the fence it is given.';

/**
 * Carries one job out again and again, and lets its workers be killed, frozen and cut off at each fail point there is: which
 * of its effects is not safe, and why. Over the same parts as `testJobs`; the functions of effects are really called.
 *
 * While it goes on, `Date` tells the time of the test's clock and `Math.random` follows from the seed, in the whole process.
 * @throws {UnknownCronError} with names that are like it
 * @throws {JobPayloadError} for a payload that the job can't read
 */
export async function tortureJob(options: TortureOptions): Promise<TortureReport> {
  const { seed = 1, only, rounds = Infinity } = options;
  const until = performance.now() + parseDuration(options.lasts ?? '10s');
  const torture = new Torture(options, seed);
  const effects = await torture.undisturbed();
  const single = singleMishaps(effects);
  const mishapsOf = (nth: number) =>
    nth <= single.length ? single.slice(nth - 1, nth) : mixedMishaps(single, seed, nth - single.length);
  if (only !== undefined) {
    await torture.play(only, mishapsOf(only));
    return torture.report({ missing: 0 });
  }
  const last = single.length + rounds;
  let nth = 1;
  for (; nth <= last && performance.now() < until; nth += 1) await torture.play(nth, mishapsOf(nth));
  return torture.report({ missing: Math.max(0, single.length - nth + 1) });
}

class Torture {
  readonly #played: Played[] = [];
  readonly #job: JobUnderTorture;
  #undisturbed: Run | null = null;
  #usual: ReadonlyMap<string, number> = new Map();
  #names: readonly string[] = [];

  constructor(
    private readonly options: TortureOptions,
    private readonly seed: number,
  ) {
    const { crons, job, payload, close } = options;
    this.#job = { crons, job, payload, seed, ...(close ? { close } : {}) };
  }

  async undisturbed(): Promise<KnownEffect[]> {
    const { run, seen } = await playOnce(this.#job, []);
    this.#undisturbed = run;
    this.#names = namesIn(seen.requests);
    this.#usual = new Map(this.#names.map((name) => [name, new Set(keysIn(seen, name)).size]));
    this.#keep(0, [], seen);
    return distinct(seen.requests);
  }

  async play(nth: number, mishaps: readonly TortureMishap[]): Promise<void> {
    const { seen, struck } = await playOnce(this.#job, mishaps);
    this.#keep(nth, struck, seen);
  }

  report({ missing }: { readonly missing: number }): TortureReport {
    const { job, harmless = [] } = this.options;
    const played = this.#played;
    const names = [
      ...new Set(played.flatMap(({ seen, nameOf }) => namesIn(seen.requests).map((name) => nameOf(name)))),
    ];
    const effects = names.map((name) => verdictOn({ played, name, harmless: harmless.includes(name) }));
    const struck = played.flatMap((run) => run.struck.map(({ kind }) => kind));
    const counts = MISHAP_KINDS.map((kind) => [kind, struck.filter((one) => one === kind).length]);
    const ok = effects.every(({ safe }) => safe) && this.#undisturbed?.state === 'succeeded';
    const mishaps = Object.fromEntries(counts) as Record<MishapKind, number>;
    return { ok, seed: this.seed, job, runs: played.length, mishaps, effects, notes: this.#notes(effects, missing) };
  }

  #keep(nth: number, struck: readonly TortureMishap[], seen: Observations): void {
    const findings = findingsOf(seen, this.#usual);
    this.#played.push({ nth, struck, seen, findings, nameOf: (name) => usualName(name, seen.requests, this.#names) });
  }

  #notes(effects: readonly TorturedEffect[], missing: number): string[] {
    const { state = 'missing', error = null } = this.#undisturbed ?? {};
    const why = error === null ? '' : `: ${error}`;
    return [
      ...(state === 'succeeded' ? [] : [`The run to which nothing happened did not succeed, it is ${state}${why}.`]),
      ...(effects.length > 0 ? [] : ['It has no effects, so there was nothing to judge.']),
      ...(effects.some(({ kind }) => kind === 'transaction')
        ? ['Transactions had no database: each query found nothing.']
        : []),
      ...(missing === 0 ? [] : [`There was no time for ${missing} fail points: give it longer.`]),
      BLIND,
    ];
  }
}

function namesIn(requests: readonly Request[]): string[] {
  return [...new Set(requests.map(({ name }) => name))];
}

function keysIn({ keys }: Observations, effect: string): string[] {
  return keys.filter(({ name }) => name === effect).map(({ key }) => key);
}

function distinct(requests: readonly Request[]): KnownEffect[] {
  return namesIn(requests).flatMap((name) => requests.find((one) => one.name === name) ?? []);
}

/** By its place in an attempt, where the name that is usual there is missing. */
function usualName(name: string, requests: readonly Request[], usual: readonly string[]): string {
  if (usual.includes(name)) return name;
  const { attempt } = requests.find((one) => one.name === name) ?? {};
  const own = namesIn(requests.filter((one) => one.attempt === attempt));
  const there = usual[own.indexOf(name)];
  return there === undefined || own.includes(there) ? name : there;
}
