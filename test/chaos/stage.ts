import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRedis, closeRedis } from '@fencepost/lease/redis';
import { freshPrefix } from '../support/redis.js';
import { openDatabase, type DatabaseServer, storesOn } from './database.js';
import type { Range } from './draw.js';
import type { Fault } from './fault.js';
import { lateWordFaults } from './faults/late-word-fault.js';
import { pointFaults } from './faults/arm.js';
import { redisWipes, WIPED } from './faults/redis-faults.js';
import { deployFaults, restartFault } from './faults/deploy-faults.js';
import { hookedFaults, processFaults } from './faults/process-faults.js';
import { Fleet, podNames } from './fleet.js';
import { SCHEDULER_STALLS, WORKER_STALLS } from './observations.js';
import { hasParting, programText, type Program } from './programs.js';
import type { Episode } from './episode.js';
import { openLeaseSystem, type LeaseSystemName } from './leases/lease-system.js';
import { openTopology } from './topologies/open-topology.js';
import type { TopologyName } from './topology.js';

export interface StageOptions {
  readonly topology: TopologyName;
  /** So many schedulers, and as many workers. */
  readonly pace: number;
  /** Where the ledger is, when it isn't in Redis. */
  readonly database?: DatabaseServer;
  /** Where the leases of crons are, when that is not Redis. */
  readonly leases?: LeaseSystemName;
  /** Whether Redis is wiped again and again, beside everything else that happens to it. */
  readonly wipeRedis?: boolean;
  /** Whether workers are deployed, rolled back, configured otherwise and scaled down all the time. */
  readonly deploys?: boolean;
  /** A folder with the pods of the format before; see `Fleet`. */
  readonly former?: string;
  /** Of a Redis that is never touched. */
  readonly sinkUrl: string;
  /** A folder in which the recording and what pods said are left, for whoever has to find out. */
  readonly keepIn?: string;
}

/** Everything an episode needs, started and connected, but for its pods. */
export interface Stage {
  readonly episode: Episode;
  readonly fleet: Fleet;
  readonly processFaults: readonly Fault[];
  readonly redisFaults: readonly Fault[];
  readonly databaseFaults: readonly Fault[];
  readonly wipes: readonly Fault[];
  readonly leaseFaults: readonly Fault[];
  readonly deployFaults: readonly Fault[];
  readonly redisPauseMs: Range;
  close(): Promise<void>;
}

/** Shorter than any deployment would have them: each fault has to be lived through many times. */
const SHORT_TIMES = {
  FENCEPOST_LEASE_TTL: '1s',
  FENCEPOST_RUN_LEASE: '1500ms',
  FENCEPOST_SWEEP_EVERY: '200ms',
  FENCEPOST_DRAIN_DEADLINE: '2s',
  FENCEPOST_KEEP_RUNS: '1000000',
  FENCEPOST_APP: 'chaos',
};

/** Longer than a revision has its say without a pod, and short enough to be seen. */
const REMOVE_AFTER = '20s';
/** The time of its files, by which a process of the format before orders itself. */
const FORMER_SEQ = Date.UTC(2026, 0, 5);

const LEASE_MS = 1_500;
/** Generous: an oracle that gives up says nothing. */
const ORACLE_TIMEOUT_MS = 20_000;

/** @throws when a server can't be started; nothing is left running then */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { topology: name, pace, database: server, wipeRedis = false, sinkUrl, keepIn } = options;
  const { leases: system, former, deploys = false } = options;
  const size = { scheduler: pace, worker: pace };
  const pods = podNames(size);
  const undo: (() => unknown)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    if (keepIn !== undefined) mkdirSync(keepIn, { recursive: true });
    const folder = mkdtempSync(join(keepIn ?? tmpdir(), 'chaos-'));
    if (keepIn === undefined) undo.push(() => rmSync(folder, { recursive: true, force: true }));
    const topology = await openTopology(name, { pods, mayLose: server !== undefined });
    undo.push(() => topology.close());
    const leases = system && (await openLeaseSystem(system));
    if (leases) undo.push(() => leases.close());
    const database = server && (await openDatabase(server, pods));
    if (database) undo.push(() => database.close());
    const connect = async (client: string) => {
      const to = { ...topology.target, commandTimeoutMs: ORACLE_TIMEOUT_MS, name: client };
      const redis = await connectRedis(to);
      undo.push(() => closeRedis(redis));
      return redis;
    };
    const [redis, waiting] = [await connect('oracle'), await connect('oracle-ledger')];
    const { waitReplicas = 0 } = topology;
    const prefix = freshPrefix();
    const { stores, closeStores } = await storesOn({ redis, waiting, waitReplicas, prefix, database });
    undo.push(closeStores);
    const recording = join(folder, 'recording.jsonl');
    const fleet = new Fleet({
      folder,
      size,
      ...(former === undefined ? {} : { former }),
      env: ({ name: pod, role, program, isFormer }) => ({
        ...{ ...SHORT_TIMES, ...topology.env(pod), ...database?.env(pod), FENCEPOST_WAIT_REPLICAS: `${waitReplicas}` },
        ...{ FENCEPOST_PREFIX: prefix, RECORD_TO: recording, SINK_REDIS_URL: sinkUrl },
        ...{ CHAOS_PROGRAM: programText(program), FENCEPOST_REMOVE_AFTER: REMOVE_AFTER },
        ...(isFormer ? { FENCEPOST_BUILD_SEQ: `${FORMER_SEQ + program.code}` } : {}),
        ...(leases ? { FENCEPOST_LEASES: leases.address } : {}),
        ...(role === 'worker' ? { CRONS: cronsOf(program, { deploys, hasDatabase: database !== undefined }) } : {}),
        STALLS: JSON.stringify(role === 'worker' ? WORKER_STALLS : SCHEDULER_STALLS),
      }),
    });
    const hurt = { herd: fleet, leaseMs: LEASE_MS };
    return {
      episode: {
        ...{ topology: name, ledgerKind: database ? 'postgres' : 'redis', prefix, recording, sinkUrl, stores },
        clockErrorMs: topology.clockErrorMs ?? 0,
        ...(database ? { database } : {}),
        ...(leases ? { leases } : {}),
      },
      fleet,
      processFaults: [
        ...[...processFaults(hurt), ...hookedFaults(hurt), ...pointFaults(hurt)],
        ...(deploys ? [] : [restartFault(fleet)]),
        ...lateWordFaults({ herd: fleet, ledger: stores.ledger }),
      ],
      redisFaults: topology.faults.filter(({ kind }) => !wipeRedis || kind !== WIPED),
      databaseFaults: database?.faults ?? [],
      leaseFaults: leases?.faults ?? [],
      deployFaults: deploys ? deployFaults(fleet) : [],
      wipes: wipeRedis ? [redisWipes(redis)] : [],
      redisPauseMs: topology.pauseMs,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function cronsOf(program: Program, { deploys, hasDatabase }: { deploys: boolean; hasDatabase: boolean }): string {
  const parting = deploys && hasParting(program) ? ['chaos-parting'] : [];
  return ['chaos', ...parting, ...(hasDatabase ? ['chaos-booked', 'kept'] : [])].join();
}
