import type { JournalEntry, Pod } from '../../data/types.js';

/** The pods of a deployment in a few figures. `null`: no pod has said. */
export interface PodFigures {
  readonly schedulers: number;
  readonly workers: number;
  /** Crons held by the schedulers together. */
  readonly held: number;
  /** The most crons that one scheduler holds, over the mean of all; 1 is even. */
  readonly balance: number | null;
  /** The farthest clock, milliseconds ahead of the store's; negative: behind. */
  readonly clockSkewMs: number | null;
  readonly lagMs: number | null;
}

export function figuresOf(pods: readonly Pod[]): PodFigures {
  const schedulers = pods.filter(({ roles }) => roles.includes('scheduler'));
  const counts = schedulers.map(({ held }) => held ?? 0);
  const held = sum(counts);
  return {
    ...{ schedulers: schedulers.length, held },
    workers: pods.filter(({ roles }) => roles.includes('worker')).length,
    balance: held === 0 ? null : (Math.max(...counts) * counts.length) / held,
    clockSkewMs: farthest(pods.map(({ clockSkewMs }) => clockSkewMs)),
    lagMs: farthest(pods.map(({ lagMs }) => lagMs)),
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function farthest(values: readonly (number | null)[]): number | null {
  return values.filter((value) => value !== null).toSorted((a, b) => Math.abs(b) - Math.abs(a))[0] ?? null;
}

const TAKEN = ['lease.preempted', 'lease.lost'];

/** Takeovers in the entries since a time, and whether the entries go back that far. */
export function takeoversIn(entries: readonly JournalEntry[], since: number) {
  const count = entries.filter(({ event, at }) => TAKEN.includes(event) && Date.parse(at) >= since).length;
  const oldest = entries.at(-1);
  return { count, isWhole: oldest === undefined || Date.parse(oldest.at) < since };
}

/** Pods whose name or host has the text. */
export function podsLike(pods: readonly Pod[], text: string): Pod[] {
  const part = text.trim().toLowerCase();
  return pods.filter(({ pod, host }) => [pod, host].some((name) => name.toLowerCase().includes(part)));
}
