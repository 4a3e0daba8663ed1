import type { PodCard } from '@fencepost/jobs/internal';

/** A cron that stands still, as a scheduler or the worker of its run has judged and reported it. */
export type Standstill = NonNullable<PodCard['standstills']>[number];

/** By cron, of all live pods. What the worker knows of a run comes before what a scheduler sees of its cron. */
export function standstillsOf(
  pods: readonly Pick<PodCard, 'standstills' | 'longRuns'>[],
): ReadonlyMap<string, Standstill> {
  const found = [
    ...pods.flatMap(({ standstills = [] }) => standstills),
    ...pods.flatMap(({ longRuns = [] }) => longRuns),
  ];
  return new Map(found.map((one) => [one.cron, one]));
}

/** A person has asked for it. */
export function isMeant({ cause }: Standstill): boolean {
  return cause === 'paused';
}
