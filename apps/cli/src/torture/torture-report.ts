import type { TorturedEffect, TortureReport } from '@fencepost/testing';
import { EXIT } from '../exit.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';

/** What is to be typed to see one run again. */
export type Replay = (job: string, only: number | null) => string;

/** All jobs that were looked at, as one. */
export function tortureReport(reports: readonly TortureReport[], replay: Replay): Report {
  const ok = reports.every((report) => report.ok);
  return {
    code: ok ? EXIT.ok : EXIT.finding,
    json: {
      ok,
      seed: reports[0]?.seed ?? null,
      job: reports.length === 1 ? reports[0]?.job : null,
      runs: sumOf(reports.map(({ runs }) => runs)),
      mishaps: mishapsOf(reports),
      effects: reports.flatMap(({ job, effects }) => effects.map((effect) => effectJson(job, effect, replay))),
      notes: notesOf(reports),
    },
    text: (width) => [
      ...table([['JOB', 'EFFECT', 'CALLS', 'VERDICT', 'WHY'], ...reports.flatMap((each) => rows(each, replay))], width),
      ...notesOf(reports).flatMap((note) => hanging(note, width)),
      ...hanging(ending(reports), width),
    ],
  };
}

function effectJson(job: string, { only, ...effect }: TorturedEffect, replay: Replay): object {
  return { job, ...effect, replay: effect.safe ? null : replay(job, only) };
}

function rows({ job, effects }: TortureReport, replay: Replay): string[][] {
  return effects.flatMap(({ name, calls, safe, reasons, mishap, only }) => [
    ...reasons.map((reason, n) =>
      n === 0 ? [job, name, `${calls}`, safe ? 'safe' : 'UNSAFE', reason] : ['', '', '', '', reason],
    ),
    ...(mishap === null ? [] : [['', '', '', '', `Worst: ${mishap}.`]]),
    ...(safe ? [] : [['', '', '', '', replay(job, only)]]),
  ]);
}

/** Each once, and before it the jobs it is about, where that is not all of them. */
function notesOf(reports: readonly TortureReport[]): string[] {
  const notes = [...new Set(reports.flatMap((report) => report.notes))];
  return notes.map((note) => {
    const of = reports.filter((report) => report.notes.includes(note)).map(({ job }) => job);
    return of.length === reports.length ? note : `${of.join(', ')}: ${note}`;
  });
}

function mishapsOf(reports: readonly TortureReport[]): Record<string, number> {
  const kinds = Object.keys(reports[0]?.mishaps ?? {});
  const counted = (kind: string) =>
    reports.map(({ mishaps }) => Object.entries(mishaps).find(([one]) => one === kind)?.[1] ?? 0);
  return Object.fromEntries(kinds.map((kind) => [kind, sumOf(counted(kind))]));
}

function ending(reports: readonly TortureReport[]): string {
  const runs = sumOf(reports.map((report) => report.runs));
  const mishaps = sumOf(Object.values(mishapsOf(reports)));
  const unsafe = reports.flatMap(({ effects }) => effects).filter(({ safe }) => !safe).length;
  const found =
    unsafe === 0 ? 'no effect was found unsafe' : `${unsafe} ${unsafe === 1 ? 'effect is' : 'effects are'} NOT safe`;
  return `${runs} runs with ${mishaps} mishaps, seed ${reports[0]?.seed}: ${found}.`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
