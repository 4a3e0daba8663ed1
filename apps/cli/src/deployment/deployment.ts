import type { Answers } from '@fencepost/client';
import type {
  BackfillProgress,
  CancelReply,
  CronLines,
  ManyProgress,
  ManyReport,
  Mutes,
  TriggerReply,
  WatchReport,
} from '../jobs.js';
import type { Attention, CronQuery, FoundCrons } from './cron-query.js';

export type { Answers } from '@fencepost/client';
export type MuteTarget = Parameters<Mutes['end']>[0];

/**
 * What commands ask and order of a deployment, in the shapes of the API: one adapter goes to the stores, the other to a console,
 * and neither a command nor what it prints can tell which.
 */
export interface Deployment {
  /** Those that fit, in their order, at most as many as are asked for. */
  crons(query: CronQuery): Promise<FoundCrons>;
  /** The worst crons, at most so many, and how all of them are. */
  attention(limit: number): Promise<Attention>;
  cron(name: string): Promise<Answers['CronDetail']>;
  runs(cron: string, query: { readonly state?: RunState; readonly limit: number }): Promise<Answers['Run'][]>;
  run(runId: string, forEach: readonly string[]): Promise<Answers['RunReport'] & Pick<Answers['RunPage'], 'journal'>>;
  /** Of all crons, or of one. */
  runsIn(state: 'failed' | 'uncertain', query: { cron?: string; limit?: number }): Promise<Answers['Run'][]>;
  why(cron: string, time: string): Promise<Answers['WhyReport']>;
  pods(): Promise<Answers['PodList']>;
  leases(filter: { readonly cron?: string; readonly tag?: string; readonly holder?: string }): Promise<Leases>;
  /** A page of what the application itself holds. */
  ownLeases(filter: OwnLeaseFilter, page: { limit: number; after?: string }): Promise<Answers['OwnLeasePage']>;
  /** All that it holds under this name. */
  ownLeasesNamed(resource: string): Promise<readonly Answers['OwnLease'][]>;
  doctor(): Promise<Answers['Finding'][]>;
  /** Shows each entry of the journal from now on, or after the one of this id, until the signal aborts. */
  follow(following: Following): Promise<void>;

  pause(cron: string, order: PauseOrder): Promise<Answers['Pause']>;
  resume(cron: string, order: Reasoned & { readonly missed: 'skip' | 'fire-once' }): Promise<Answers['Resumed']>;
  trigger(cron: string, order: Partial<Reasoned> & RunOrder): Promise<TriggerReply>;
  /** The same for many, or a preview of which. */
  orderMany(order: BulkOrder): Promise<Answers['BulkResult']>;
  backfill(cron: string, order: BackfillOrder): Promise<Answers['Backfill']>;
  /** @throws {InvalidCronsError} for lines that can't be; nothing is written */
  importCrons(lines: CronLines, order: ImportOrder): Promise<ManyReport>;
  /** Lines of crons, some at a time. */
  exportCrons(tag: string | undefined): AsyncIterable<string>;
  remove(cron: string, order: Reasoned & { readonly expected?: number }): Promise<Removed | NotRemoved>;
  cancel(runId: string, order: Reasoned & { readonly graceMs?: number }): Promise<Cancelled>;
  retry(runId: string, order: Reasoned & RunOrder & { repeatUnknown: boolean }): Promise<Answers['Started']>;
  resolve(runId: string, order: ResolveOrder): Promise<Answers['Resolved']>;
  clearLease(cron: string, order: Reasoned & { readonly fence: string }): Promise<ClearedLease | MovedLease>;
  /** @param lease as it was seen, with the fence that it must have */
  clearOwnLease(lease: Answers['OwnLease'], order: Reasoned): Promise<ClearedOwnLease | MovedLease>;

  mutes(): Promise<readonly Answers['Mute'][]>;
  mute(target: MuteTarget, order: PauseOrder): Promise<Answers['Mute']>;
  unmute(target: MuteTarget, order: Reasoned): Promise<{ readonly ended: Answers['Mute'] | null }>;

  /** Where it is, for a sentence about what is not there. */
  place(): Promise<Pick<Answers['Overview'], 'prefix' | 'tenant'>>;
}

export type RunState = Answers['Run']['state'];
export type Leases = { readonly held: readonly Answers['HeldLease'][]; readonly free: readonly string[] };

export type OwnKind = Answers['OwnLease']['kind'];

export interface OwnLeaseFilter {
  readonly kind?: OwnKind;
  /** Part of the name. */
  readonly resource?: string;
  readonly holder?: string;
}

interface Reasoned {
  readonly reason: string;
}

interface RunOrder {
  /** `undefined`: that of the definition, or of the run. */
  readonly payload?: unknown;
  readonly force: boolean;
}

export interface PauseOrder extends Reasoned {
  /** Epoch milliseconds, or how long by the clock of the store; neither: until it is resumed. */
  readonly until?: number;
  readonly forMs?: number;
}

export interface BulkOrder extends PauseOrder {
  readonly order: 'pause' | 'resume' | 'trigger';
  readonly tag: string;
  readonly missed?: 'skip' | 'fire-once';
  readonly dryRun: boolean;
  /** How many crons the preview had. */
  readonly expected?: number;
}

export interface BackfillOrder extends Reasoned {
  readonly from: number;
  readonly to: number;
  readonly dryRun: boolean;
  /** Asked where it can be stopped between two batches. */
  readonly interrupted: () => AbortSignal;
  readonly onProgress: (progress: BackfillProgress) => void;
}

export interface ImportOrder extends Reasoned {
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ManyProgress) => void;
}

export interface ResolveOrder extends Reasoned {
  readonly answer: 'done' | 'not-done' | 'give-up';
  readonly result?: unknown;
  readonly attempt: number;
  readonly effect: string;
  readonly item: string | null;
  readonly since: number;
}

export type Cancelled =
  Exclude<CancelReply, { verdict: 'cancelling' }> | { readonly verdict: 'cancelling'; readonly until: string };

/** Somebody was faster: nothing was changed. */
export interface Moved {
  readonly message: string;
  readonly expected: number | null;
  readonly found: number | null;
}

export interface Removed {
  /** Who is on record for it. */
  readonly by: string;
  /** The app that declared it: a pod that declares it again brings it back. `null`: made at run time. */
  readonly declaredBy: string | null;
}

/** Live pods of these apps declare it: nothing was changed. */
export interface Declared {
  readonly message: string;
  readonly apps: readonly string[];
}

export type NotRemoved = Moved | Declared;

export interface MovedLease {
  readonly message: string;
  readonly found: Answers['Lease'] | Answers['OwnLease'] | null;
}

export interface ClearedLease extends Omit<Answers['Cleared'], 'cron' | 'marker'> {
  /** Looks for duplicates for a while. */
  readonly watch: (ms: number, signal: AbortSignal) => Promise<Watched>;
}

export interface ClearedOwnLease extends Readonly<Answers['OwnCleared']> {
  /** Looks for a while at who gets it next. */
  readonly watch: (ms: number, signal: AbortSignal) => Promise<WatchedLease>;
}

export type WatchedLease = Pick<WatchReport, 'observations' | 'verdict'> & {
  readonly holding: { readonly holder: string; readonly fence: string } | null;
};

export type Watched = Omit<WatchReport, 'from' | 'holding'> & {
  readonly from: string;
  readonly holding: Answers['Lease'] | null;
};

export interface Following {
  readonly after: string | null;
  readonly signal: AbortSignal;
  readonly show: (entry: Answers['JournalEntry']) => void;
  /** The journal can't be read for now, for this reason. */
  readonly onTrouble: (reason: string) => void;
}
