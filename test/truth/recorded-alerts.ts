import type { Moment } from './alert-recording.js';

/** What becomes of recorded series: from the name and labels of one to its values, as `promtool` reads them. */
type Changes = Readonly<Record<string, string>>;

/** What Prometheus sees: the pages of a moment, and what of them changes while the rest stays. */
export interface Seen {
  readonly page: Moment;
  readonly changes?: Changes;
  /** Series that a pod shows with the first event alone; without them, a change has to be about a recorded one. */
  readonly added?: Changes;
  /** Instants go along with the time, as those of pods do that are well; else they stay, as those of pods that hang. */
  readonly goesOn?: boolean;
  /** Rings not before, and is quiet from here on. */
  readonly from?: number;
}

export const well = (changes?: Changes): Seen => ({ page: 'well', goesOn: true, ...(changes ? { changes } : {}) });
const adding = (added: Changes): Seen => ({ ...well(), added });
const unread = (role: string): Changes => ({ [`fencepost_pods{role="${role}"}`]: '_x45' });
const alone = (page: Moment): Seen => ({ page, goesOn: true });

export const FAILED = 'fencepost_runs_total{cron="failing",status="failed"}';
const MISSED = 'fencepost_fires_total{cron="strict",outcome="missed"}';
const LOST = 'fencepost_cron_lease_transitions_total{transition="lost"}';
const REFUSED = 'fencepost_fence_rejections_total{at="claim",cron="tick"}';
const UNRELEASED = 'fencepost_lease_expired_without_release_total{resource_type="cron"}';
const [WAITING, NODE] = ['fencepost_queue_jobs{state="waiting"}', 'fencepost_lease_node_health{node="n"}'];
const [DROPPED, BUG] = ['fencepost_journal_dropped_total', 'fencepost_program_errors_total'];
const [AHEAD, DELAY] = ['fencepost_clock_skew_seconds', 'fencepost_fire_delay_seconds_bucket'];
const reasons = (reason: string) => `fencepost_lease_lost_total{reason="${reason}",resource_type="cron"}`;
const requests = (outcome: string) => `fencepost_lease_acquire_total{outcome="${outcome}",resource_type="cron"}`;
const STORE = 'fencepost_store_failures_total{operation="cron.read",store="ledger"}';
const DOWNSTREAM = 'fencepost_lease_fencing_rejected_total{downstream="db",resource_type="order"}';

const STILL = (cause: string) => `fencepost_cron_standstill{cause="${cause}",cron="tick"}`;
const CONFLICT = (what: string) => `fencepost_catalog_conflicts_total{app="shop",conflict="${what}",instance="w"}`;
const REVISION = (number: number) => `fencepost_revision_pods{app="shop",revision="${number}",instance="w"}`;

/** One restart of its store takes each of 3,000 crons from a pod, once. */
const RESTART = '0x9 3000x40';

interface Recorded {
  /** In each of these it rings, at some minute. */
  readonly rings: Readonly<Record<string, Seen>>;
  /** In each of these it never does. */
  readonly quiet: Readonly<Record<string, Seen>>;
}

export const RECORDED: Readonly<Record<string, Recorded>> = {
  FencepostNoScheduler: {
    rings: { 'a worker': alone('no scheduler'), 'no pod': well({ ...unread('scheduler'), [BUG]: '_x45' }) },
    quiet: { 'a scheduler and no worker': alone('no worker'), 'an unread number': well(unread('scheduler')) },
  },
  FencepostNoWorker: {
    rings: { 'a scheduler': alone('no worker'), 'no pod': well({ ...unread('worker'), [BUG]: '_x45' }) },
    quiet: { 'both roles': well(), 'an unread number': well(unread('worker')) },
  },
  FencepostCronWithoutHolder: {
    rings: { 'a lease that nobody fires for': { page: 'a cron without a holder', goesOn: true } },
    quiet: { 'all are held': well() },
  },
  FencepostFireOverdue: {
    rings: { 'a pod that hangs': { page: 'well' } },
    quiet: { 'a pod that goes on': well() },
  },
  FencepostCronStandstill: {
    rings: { 'a handler that hangs': adding({ [STILL('handler-hangs')]: '0x9 1x40' }) },
    quiet: { 'a paused cron': adding({ [STILL('paused')]: '1x49' }), 'all fire': well() },
  },
  FencepostFiresMissed: {
    rings: {
      'one instant': well({ [MISSED]: '0x9 1x40' }),
      'what was missed before the first scrape': { page: 'missed before the first scrape', goesOn: true },
    },
    quiet: {
      'no instant': well(),
      'an old one': { page: 'missed before the first scrape', goesOn: true, from: 17 },
    },
  },
  FencepostFiresLate: {
    rings: {
      'most begin more than 5 s late': well({ [`${DELAY}{le="10"}`]: '0+9x45', [`${DELAY}{le="+Inf"}`]: '0+9x45' }),
    },
    quiet: {
      'all begin within 5 s': well(
        Object.fromEntries(['5', '10', '+Inf'].map((le) => [`${DELAY}{le="${le}"}`, '0+9x45'])),
      ),
    },
  },
  FencepostLastSuccessTooOld: {
    rings: { 'a cron that never succeeded': { page: 'well' }, 'one beside a paused one': { page: 'paused' } },
    quiet: { 'success after success': well() },
  },
  FencepostDefinitionsContested: {
    rings: { 'a name that another app has': adding({ [CONFLICT('foreign')]: '0x9 1x35' }) },
    quiet: { 'no conflict': well(), 'an older revision': adding({ [CONFLICT('superseded')]: '0x9 1x35' }) },
  },
  FencepostRevisionsMixed: {
    rings: { 'two revisions for long': adding({ [REVISION(1)]: '1x45', [REVISION(2)]: '1x45' }) },
    quiet: {
      'one revision': adding({ [REVISION(1)]: '1x45' }),
      'a rolling deploy': adding({ [REVISION(1)]: '1x9 0x35', [REVISION(2)]: '1x45' }),
    },
  },
  FencepostFenceRejections: {
    rings: { 'one a minute': well({ [REFUSED]: '0+1x45' }) },
    quiet: { 'one, in each pod': well({ [REFUSED]: '0x9 1x40' }) },
  },
  FencepostDownstreamRejections: {
    rings: { 'one a minute': adding({ [DOWNSTREAM]: '0+1x45' }) },
    quiet: { 'those of the day before': adding({ [DOWNSTREAM]: '9x45' }) },
  },
  FencepostLeasesLost: {
    rings: { 'one a minute': well({ [LOST]: '0+1x45' }), 'all, again and again': well({ [LOST]: '0+3000x45' }) },
    quiet: { 'one restart with 3,000 crons': well({ [LOST]: RESTART }), none: well() },
  },
  FencepostLeasesUnreleased: {
    rings: { 'one a minute': well({ [UNRELEASED]: '0+1x45' }) },
    quiet: { 'one restart with 3,000 crons': well({ [UNRELEASED]: RESTART }) },
  },
  FencepostLeaseHeldOverBudget: {
    rings: {
      'one lost by maxHold': well({ [reasons('max-hold')]: '0x9 1x40' }),
      'one still held': adding({ 'fencepost_lease_held_over_budget{resource_type="order"}': '0x9 1x40' }),
    },
    quiet: { 'others lost': well({ [reasons('expired')]: '0+1x45' }) },
  },
  FencepostLeaseAcquireErrors: {
    rings: { 'one a minute': well({ [requests('error')]: '0+1x45' }) },
    quiet: { 'held by another': well({ [requests('busy')]: '0+9x45' }) },
  },
  FencepostUncertainRuns: {
    rings: { 'a run that asks': { page: 'asked', goesOn: true } },
    quiet: { 'no such run': well() },
  },
  FencepostRunsFailing: {
    rings: {
      'a first failure after boot, before the first scrape': { page: 'failed before the first scrape', goesOn: true },
      'a run of a worker that is gone': { page: 'failed', goesOn: true },
      'one failure': well({ [FAILED]: '0x9 1x40' }),
    },
    quiet: { 'no failure': well() },
  },
  FencepostQueueGrowing: {
    rings: { 'twenty more a minute': well({ [WAITING]: '0+20x45' }) },
    quiet: { 'a backlog that shrinks': well({ [WAITING]: '400-2x45' }) },
  },
  FencepostStoreTrouble: {
    rings: { 'nine a minute': adding({ [STORE]: '0+9x45' }) },
    quiet: { 'those of the day before': adding({ [STORE]: '99x45' }) },
  },
  FencepostProgramError: {
    rings: { one: well({ [BUG]: '0x9 1x40' }), 'one while it starts': well({ [BUG]: '1x45' }) },
    quiet: { none: well(), 'failures of a store': adding({ [STORE]: '0+1x45' }) },
  },
  FencepostJournalDropping: {
    rings: { 'again and again': well({ [DROPPED]: '0+1x45' }) },
    quiet: { 'once, before': well({ [DROPPED]: '9x45' }) },
  },
  FencepostClockSkew: {
    rings: { 'a second behind': well({ [AHEAD]: '-1x45' }) },
    quiet: { 'a tenth of a second ahead': well({ [AHEAD]: '0.1x45' }) },
  },
  FencepostNodeLeftOut: {
    rings: { 'a node that fails': adding({ [NODE]: '0x45' }) },
    quiet: { 'a node that is asked': adding({ [NODE]: '1x45' }) },
  },
};
