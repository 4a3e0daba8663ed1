import type { Damage } from './counting.js';
import type { Outcome } from './torture-peer.js';

/** A peer that can't be run here, and why. */
export interface LeftOut {
  readonly name: string;
  readonly leftOut: string;
}

export type Row = Outcome | LeftOut;

export interface Verdict {
  readonly ok: boolean;
  /** What was expected and not so, in sentences. */
  readonly because: readonly string[];
}

/** Who came to harm before anything was struck: its figures are not the torture's alone. */
export function unwell(rows: readonly Row[]): string[] {
  const outcomes = rows.flatMap((row) => ('leftOut' in row || !isHurt(row.calm) ? [] : [row]));
  return outcomes.map(({ name, calm: { missed, doubled, stale } }) => {
    return `${name} missed ${missed}, doubled ${doubled}, stale ${stale} before anything was struck: is the machine too busy?`;
  });
}

/** Fencepost unhurt, everybody struck, and somebody hurt: a torture that hurts nobody says nothing about anybody. */
export function judge(rows: readonly Row[]): Verdict {
  const outcomes = rows.flatMap((row) => ('leftOut' in row ? [] : [row]));
  const ours = outcomes.find(({ name }) => name === 'Fencepost');
  const peers = outcomes.filter((outcome) => outcome !== ours);
  const because = [
    ...(ours && isHurt(ours) ? [`Fencepost missed ${ours.missed}, doubled ${ours.doubled}, stale ${ours.stale}.`] : []),
    ...(ours ? [] : ['Fencepost was not among them.']),
    ...outcomes.filter(({ occurrences }) => occurrences <= 0).map(({ name }) => `No instant of ${name} was looked at.`),
    ...outcomes.filter((outcome) => strikes(outcome) === 0).map(({ name }) => `Nothing struck ${name}.`),
    ...(peers.some(isHurt) ? [] : ['The torture was too tame: no peer came to harm, so that nothing is proved.']),
  ];
  return { ok: because.length === 0, because };
}

function isHurt({ missed, doubled, stale }: Damage): boolean {
  return missed + doubled + stale > 0;
}

function strikes({ faults }: Outcome): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0);
}

const HEADS = ['peer', 'version', 'instants', 'missed', 'doubled', 'stale', 'refused', 'faults'];

/** For people, in Markdown, so that it can be put on a page as it is. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => {
    if ('leftOut' in row) return [row.name, row.leftOut, ...Array<string>(HEADS.length - 2).fill('–')];
    const { name, version, occurrences, missed, doubled, stale, refused } = row;
    return [name, version, occurrences, missed, doubled, stale, refused ?? '–', strikes(row)].map(String);
  });
  const widths = HEADS.map((head, n) => Math.max(3, head.length, ...cells.map((line) => line[n]?.length ?? 0)));
  const lineOf = (line: readonly string[]) => `| ${line.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`;
  return [HEADS, widths.map((width) => '-'.repeat(width)), ...cells].map(lineOf).join('\n');
}
