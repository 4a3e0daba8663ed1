/*
 * Every sentence of the console, by page, so that it can be read as a whole. A word on a button or over a column is here too where
 * more than one page has it.
 */

const number = (count: number) => count.toLocaleString('en');
const plural = (count: number, one: string, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export const WORDS = {
  leases: {
    title: 'Leases',
    summary: 'Summary',
    pods: 'Pods',
    members: (schedulers: number, workers: number) =>
      `${plural(schedulers, 'scheduler')}, ${plural(workers, 'worker')}`,
    held: 'Crons held',
    unheld: 'Without a holder',
    none: 'none',
    unknown: 'unknown',
    crons: (count: number) => plural(count, 'cron'),
    balance: 'Balance',
    balanced: (ratio: number) => `busiest pod holds ${ratio.toFixed(2)} × the mean`,
    clockOffset: 'Clock offset',
    loopLag: 'Event-loop lag p99',
    roundTrip: 'Store round trip',
    leaseTtl: 'Lease TTL',
    takeovers: 'Takeovers in the last hour',
    atLeast: (count: number) => `at least ${number(count)}`,
    searchPods: 'Pod or host',
    morePods: (count: number) => `${plural(count, 'more pod')}, not shown. Search by name or host.`,
    noPods: 'No pod has reported',
    noPodsText: 'Pods report every few seconds. Start a scheduler and a worker.',
    process: (host: string, pid: number, version: string) => `${host}, process ${pid}, ${version}`,
    /** During a hand-over a pod holds more than it is assigned. */
    holds: (held: number, assigned: number | null) =>
      assigned === null || held === assigned ? number(held) : `${number(held)} (assigned ${number(assigned)})`,
    nodes: 'Quorum nodes',
    nodeHealthy: 'healthy',
    nodeLeftOut: (pods: readonly string[]) => `left out by ${pods.join(', ')}`,
    ofCrons: 'Leases of crons',
    actions: 'Actions',
    noLeases: 'No lease is held',
    noLeasesText: 'Start a scheduler pod, or wait a moment: after a restart, pods acquire the leases again.',
    handOvers: 'Hand-overs',
    handOversNewest: 'Hand-overs, newest first',
    noHandOvers: 'No recent hand-overs.',
  },
  upcoming: {
    title: 'Upcoming',
    perHour: 'Runs due per hour',
    range: 'Range',
    ranges: [
      ['24', '24 hours'],
      ['72', '3 days'],
      ['168', '7 days'],
    ] as const,
    day: 'Day',
    total: 'Total',
    cell: (when: string, count: number, peak: number) =>
      `${when}: ${plural(count, 'run')} due${peak > 1 ? `, at most ${number(peak)} in one second` : ''}`,
    nothing: 'No run is due',
    nothingText: 'No cron is due in this range. Check for paused or disabled crons.',
    dueAt: 'Due at one instant',
    dueAtField: 'Instant',
    show: 'Show',
    showAll: 'Show all',
    due: (count: number, when: string) => `${plural(count, 'cron')} due at ${when}`,
    more: (count: number) => `${plural(count, 'more cron')}, not shown.`,
    dueAtHint: 'Select an hour or a stampede, or enter an instant.',
    stampedes: 'Stampedes',
    noStampedes: 'No second has 10 or more crons due.',
    stampede: (names: readonly string[], count: number) =>
      `${names.join(', ')}${count > names.length ? ` and ${number(count - names.length)} more` : ''}. Set a spread, or use other minutes.`,
    crons: (count: number) => plural(count, 'cron'),
    clockChanges: 'Clock changes',
    noClockChanges: 'No clock changes affect these crons.',
    next: 'Next due',
    clocksChange: 'clocks change',
  },
};
