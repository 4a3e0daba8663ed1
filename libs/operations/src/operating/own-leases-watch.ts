import { formatFence, type Fence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import { followLooks, verdictOf, type Following, type Observation, type WatchReport } from './leases-watch.js';
import type { OwnKind, OwnLease } from './own-lease.js';

/** A term that was cleared. */
export interface OwnTerm {
  readonly kind: OwnKind;
  readonly resource: string;
  readonly fence: Fence;
  /** As it is shown, or all of it. */
  readonly holder: string;
}

export interface OwnWatchReport extends Pick<WatchReport, 'observations' | 'verdict'> {
  readonly resource: string;
  /** The next holder, at the end. */
  readonly holding: Holding | null;
}

type Seen = Pick<OwnLease, 'kind' | 'holder' | 'fence' | 'remainingMs'>;

/** Puts look after look together into what there is to say of a term that was cleared. Asks nobody. */
export class OwnLeaseWatch {
  readonly #observations = new Map<string, Observation>();
  #holding: Seen | null = null;

  constructor(private readonly term: OwnTerm) {}

  async follow(look: () => Promise<readonly Seen[]>, ms: number, following: Following): Promise<OwnWatchReport> {
    await followLooks(async () => this.see(await look()), ms, following);
    return this.report();
  }

  /** @param held all that is held under the name of the term */
  see(held: readonly Seen[]): void {
    const same = held.filter(({ kind }) => kind === this.term.kind);
    for (const observation of same.flatMap((one) => observed(this.term, one))) {
      this.#observations.set(observation.text, observation);
    }
    this.#holding = same.findLast(({ fence }) => fence > this.term.fence) ?? null;
  }

  report(): OwnWatchReport {
    const observations = [...this.#observations.values()];
    const { resource } = this.term;
    return { resource, observations, holding: this.#holding, verdict: verdictOf(observations, this.#holding) };
  }
}

function observed(term: OwnTerm, { holder, fence }: Seen): Observation[] {
  const who = `${ownerPrefix(holder)} holds it with fence ${formatFence(fence)}`;
  const about = { runId: null };
  if (fence === term.fence) {
    const text = `${who}, which was cleared: the store has lost the write, or a failover took it back.`;
    return [{ ...about, kind: 'cleared-term-is-back', level: 'bad', text }];
  }
  // The other places of a semaphore were there before.
  if (fence < term.fence) {
    if (term.kind === 'semaphore') return [];
    const text = `${who}, lower than ${formatFence(term.fence)}: late writes of the old holder are not refused.`;
    return [{ ...about, kind: 'fence-fell', level: 'bad', text }];
  }
  if (ownerPrefix(holder) === ownerPrefix(term.holder)) {
    return [
      { ...about, kind: 'old-holder-is-back', level: 'warn', text: `${who}. It is the old holder: it is alive.` },
    ];
  }
  return [{ ...about, kind: 'next-holder', level: 'note', text: `${who}, higher than ${formatFence(term.fence)}.` }];
}
