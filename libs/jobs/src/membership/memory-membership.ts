import type { Clock } from '@fencepost/lease';
import { POD_TIMING, type PodTiming } from './pod-timing.js';
import { FIRST_FORMAT, FORMAT } from '@fencepost/ledger/format';
import { Company } from './heard-processes.js';
import {
  FormatBehindError,
  MAX_OVERDUE,
  type Announced,
  type HeartbeatReply,
  type LiveProcess,
  type LowestFormat,
  type Member,
  type Membership,
  type ProcessKind,
} from './membership.js';

export interface MemoryMembershipOptions {
  /** The clock of the store. */
  readonly clock: Clock;
  /** The version of the catalog. */
  readonly version: () => number;
  /** Default {@link POD_TIMING}. */
  readonly timing?: Pick<PodTiming, 'memberGoneMs' | 'overdueMs' | 'aloneAfterMs'>;
}

/** Membership in memory, for tests: passes the same contract suite as `RedisMembership`. */
export class MemoryMembership implements Membership {
  readonly #options: MemoryMembershipOptions;
  readonly #timing: NonNullable<MemoryMembershipOptions['timing']>;
  readonly #pods = new Map<string, number>();
  readonly #weights = new Map<string, number>();
  /** Of each process its format, and when it was heard. */
  readonly #formats = new Map<string, { readonly format: number; readonly heard: number }>();
  readonly #company = new Company();
  #written = 0;
  readonly #due = new Map<string, number>();
  #heard: number | null = null;

  constructor(options: MemoryMembershipOptions) {
    this.#options = options;
    this.#timing = options.timing ?? POD_TIMING;
  }

  /** The number of members. */
  get size(): number {
    return this.#pods.size;
  }

  /** The same store as a process of another format sees it. */
  ofFormat(format: number): Membership {
    return {
      heartbeat: (pod, weight) => this.heartbeat(pod, weight, format),
      beat: (process, kind, weight) => this.beat(process, kind, weight, format),
      members: () => this.members(),
      announce: (process) => this.announce(process, format),
      lowestFormat: () => this.lowestFormat(format),
      processes: () => this.processes(),
      leave: (pod) => this.leave(pod),
      publishDue: (dues) => this.publishDue(dues),
      lastHeard: () => this.lastHeard(),
    };
  }

  /** A pod of a build that announces no format. */
  beatUnannounced(pod: string): void {
    this.#pods.set(pod, this.#options.clock.now());
    this.#company.note(pod, this.#options.clock.now());
  }

  async heartbeat(pod: string, weight = 1, format = FORMAT): Promise<HeartbeatReply> {
    const { catalogVersion, isAlone, ...lowest } = await this.announce(pod, format);
    const now = this.#options.clock.now();
    this.#pods.set(pod, now);
    this.#weights.set(pod, weight);
    this.#heard = now;
    const members = await this.members();
    return { now, catalogVersion, isAlone, members, overdue: this.#overdue(now), lowest };
  }

  async beat(process: string, kind: ProcessKind, ...[weight = 1, format = FORMAT]: [number?, number?]): Promise<void> {
    const now = this.#options.clock.now();
    this.#hear(process, { format, heard: now });
    if (kind === 'process') return;
    this.#pods.set(process, now);
    this.#weights.set(process, weight);
    this.#heard = now;
  }

  #hear(process: string, sign: { readonly format: number; readonly heard: number }): void {
    this.#formats.set(process, sign);
    this.#company.note(process, sign.heard);
  }

  async members(): Promise<readonly Member[]> {
    const now = this.#options.clock.now();
    for (const [name, heard] of [...this.#pods]) {
      if (heard <= now - this.#timing.memberGoneMs) this.#pods.delete(name);
      else if (heard > now) this.#pods.set(name, now);
    }
    return [...this.#pods]
      .map(([name, heard]) => this.#member(name, now - heard))
      .toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
  }

  #member(pod: string, sinceHeardMs: number): Member {
    const weight = this.#weights.get(pod) ?? 1;
    return { pod, sinceHeardMs, ...(weight !== 1 && { weight }) };
  }

  async processes(): Promise<readonly LiveProcess[]> {
    const now = this.#options.clock.now();
    const members = new Map((await this.members()).map(({ pod, sinceHeardMs }) => [pod, sinceHeardMs]));
    const announced = [...this.#formats].filter(([, { heard }]) => heard > now - this.#timing.memberGoneMs);
    const heardMs = new Map(announced.map(([process, { heard }]) => [process, Math.max(0, now - heard)]));
    return [...new Set([...members.keys(), ...heardMs.keys()])].toSorted().map((process) => ({
      process,
      isScheduler: members.has(process),
      sinceHeardMs: Math.min(members.get(process) ?? Infinity, heardMs.get(process) ?? Infinity),
    }));
  }

  async announce(process: string, format = FORMAT): Promise<Announced> {
    this.#refuseBehind(format);
    const now = this.#options.clock.now();
    this.#hear(process, { format, heard: now });
    const lowest = await this.lowestFormat(format);
    this.#written = Math.max(this.#written, lowest.format);
    const isAlone = !this.#company.hasOther(process, now - this.#timing.aloneAfterMs);
    return { ...lowest, catalogVersion: this.#options.version(), isAlone };
  }

  async lowestFormat(format = FORMAT): Promise<LowestFormat> {
    this.#refuseBehind(format);
    const goneAt = this.#options.clock.now() - this.#timing.memberGoneMs;
    for (const [process, { heard }] of [...this.#formats]) {
      if (heard <= goneAt) this.#formats.delete(process);
    }
    const silent = [...this.#pods].flatMap(([pod, heard]) => (heard > goneAt && !this.#formats.has(pod) ? [pod] : []));
    const announced = [...this.#formats].map(([process, known]) => ({ process, format: known.format }));
    const live = [...silent.map((process) => ({ process, format: FIRST_FORMAT })), ...announced];
    return live.toSorted((a, b) => a.format - b.format)[0] ?? { process: null, format };
  }

  #refuseBehind(format: number): void {
    if (format + 1 < this.#written) throw new FormatBehindError(this.#written, format);
  }

  async leave(pod: string): Promise<void> {
    this.#pods.delete(pod);
    this.#formats.delete(pod);
  }

  async publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
    for (const [cron, due] of dues) {
      if (due === null) this.#due.delete(cron);
      else this.#due.set(cron, due);
    }
  }

  async lastHeard(): Promise<number | null> {
    return this.#heard;
  }

  /** Simulates a wiped store: the pods come back with their next heartbeats. */
  wipe(): void {
    this.#pods.clear();
    this.#weights.clear();
    this.#due.clear();
    this.#formats.clear();
    this.#company.clear();
    this.#written = 0;
    this.#heard = null;
  }

  #overdue(now: number): HeartbeatReply['overdue'] {
    const overdue = [...this.#due].filter(([, due]) => due <= now - this.#timing.overdueMs);
    return overdue
      .toSorted(([, a], [, b]) => a - b)
      .slice(0, MAX_OVERDUE)
      .map(([cron, due]) => ({ cron, overdueMs: now - due }));
  }
}
