import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { privateEtcdCluster } from '../../support/etcd.js';
import { chaosRedis } from '../chaos-redis.js';
import { between, shuffled } from '../draw.js';
import { storeFault, type Fault } from '../fault.js';
import { now, type RecordedEvent } from '../recording.js';

/** Where the pods of an episode keep the leases of crons, when that is a system of its own. */
export interface LeaseSystem {
  /** `FENCEPOST_LEASES` of each pod. */
  readonly address: string;
  readonly faults: readonly Fault[];
  /** What the pods did while a part of it was away. */
  judge(events: readonly RecordedEvent[]): LeaseJudgement;
  close(): Promise<void>;
}

export interface LeaseJudgement {
  /** Claims begun while a majority was away, by a pod whose lease had to be over. */
  readonly claimedWithoutLeases: number;
  /** Claims while a minority was away: leases went on. */
  readonly claimedWithMinorityAway: number;
}

export const LEASE_SYSTEMS = ['quorum', 'etcd'] as const;
export type LeaseSystemName = (typeof LEASE_SYSTEMS)[number];

/** One server of it. What it acknowledged outlives its process. */
interface LeaseServer {
  kill(): Promise<void>;
  start(): Promise<unknown>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** Microseconds of the recording. */
interface Absence {
  readonly isMajority: boolean;
  readonly from: number;
  readonly until: number;
}

const MINORITY_MS = { least: 1_000, most: 3_000 };
/** Long enough to see that nothing is claimed once each lease is over. */
const MAJORITY_MS = { least: 7_500, most: 9_000 };
const FROZEN_MS = { least: 300, most: 2_000 };
/** The ttl: what is held after that was renewed meanwhile. */
const RENEWED_US = 1_000_000;
/**
 * From the last renewal that a majority has answered until the last claim under it: the ttl, and the longest for which a pod is
 * stopped here between its look at the lease and its claim. That claim is the fence's to judge.
 */
const OVER_US = 6_000_000;

/** @throws when a server can't be started; nothing is left running then */
export async function openLeaseSystem(name: LeaseSystemName): Promise<LeaseSystem> {
  if (name === 'etcd') {
    const members = await privateEtcdCluster(3);
    return new Servers(`etcd:${members.map(({ endpoint }) => endpoint).join(',')}`, members);
  }
  const nodes = await Promise.all(Array.from({ length: 5 }, () => chaosRedis()));
  const servers = nodes.map((node) => ({
    ...{ kill: () => node.kill(), start: () => node.restart(), stop: () => node.stop() },
    ...{ freeze: () => node.freeze(), thaw: () => node.thaw() },
  }));
  return new Servers(`quorum:${nodes.map(({ url }) => url).join(',')}`, servers);
}

/** Two of five, or one of three, may go; with one more of them nobody may act. */
class Servers implements LeaseSystem {
  readonly #absences: Absence[] = [];
  readonly faults: readonly Fault[];

  constructor(
    readonly address: string,
    private readonly servers: readonly LeaseServer[],
  ) {
    const minority = Math.floor((servers.length - 1) / 2);
    this.faults = [
      storeFault('lease-minority-killed', (signal, random) => this.#killed(minority, { signal, random })),
      storeFault('lease-majority-killed', (signal, random) => this.#killed(minority + 1, { signal, random }), 0.4),
      storeFault('lease-server-frozen', async (signal, random) => {
        const [server] = shuffled(this.servers, random);
        server?.freeze();
        await sleep(systemClock, between(FROZEN_MS, random), signal);
        server?.thaw();
      }),
    ];
  }

  judge(events: readonly RecordedEvent[]): LeaseJudgement {
    const begun = events.filter(({ event }) => event === 'occurrence.claiming').map(({ at }) => at);
    const within = (isMajority: boolean, afterUs: number) =>
      this.#absences.reduce((sum, absence) => {
        if (absence.isMajority !== isMajority) return sum;
        return sum + begun.filter((at) => at > absence.from + afterUs && at < absence.until).length;
      }, 0);
    return { claimedWithoutLeases: within(true, OVER_US), claimedWithMinorityAway: within(false, RENEWED_US) };
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async #killed(count: number, { signal, random }: { signal: AbortSignal; random: () => number }): Promise<void> {
    const isMajority = 2 * count > this.servers.length;
    const struck = shuffled(this.servers, random).slice(0, count);
    await Promise.all(struck.map((server) => server.kill()));
    const from = now();
    await sleep(systemClock, between(isMajority ? MAJORITY_MS : MINORITY_MS, random), signal);
    this.#absences.push({ isMajority, from, until: now() });
    await Promise.all(struck.map((server) => server.start()));
  }
}
