import { UsageError } from '../exit.js';
import {
  contentHash,
  differingParts,
  instantDifference,
  instantsOf,
  type CatalogEntry,
  type Declaration,
  type InstantDifference,
} from '../jobs.js';
import type { BuildFile } from './read-declarations.js';

/** How a build stands to the last one of its program. */
export type Precedence = 'newer' | 'equal' | 'older';

/**
 * What becomes of a cron. `older`: it differs, and an older build defines nothing. `conflict`: it differs, and an equal
 * `buildSeq` may not: the processes of the build refuse to start.
 */
export type Change = 'new' | 'changed' | 'removed' | 'older' | 'conflict';

export interface CronChange {
  readonly cron: string;
  readonly change: Change;
  /** Which parts of the definition differ. */
  readonly parts: readonly string[];
  /** What would be different if the build defined it; nothing where it does not. */
  readonly instants: InstantDifference;
}

export interface Plan {
  readonly source: string;
  readonly buildSeq: number | null;
  /** The last build of the program that declared something; `null` without one. */
  readonly lastSeq: number | null;
  readonly standing: Precedence;
  readonly changes: readonly CronChange[];
  readonly same: number;
}

export interface PlanQuestion {
  readonly live: readonly CatalogEntry[];
  readonly build: BuildFile;
  readonly from: number;
  readonly to: number;
}

/**
 * What a build would change, by the same rules as the catalog: only a higher `buildSeq` redefines and removes.
 * @throws {UsageError} when several programs declare crons and the build doesn't say which one it is
 */
export function plan({ live, build, from, to }: PlanQuestion): Plan {
  const source = build.source ?? onlySource(live);
  const seqs = live.flatMap((entry) => (entry.source === source && entry.buildSeq !== null ? [entry.buildSeq] : []));
  const lastSeq = seqs.length === 0 ? null : Math.max(...seqs);
  const standing = precedenceOf(build.buildSeq, lastSeq);
  const known = new Map(live.map((entry) => [entry.definition.name, entry]));
  const pairs = build.declarations.map((declared) => ({ declared, entry: known.get(declared.definition.name) }));
  const declaredNames = new Set(build.declarations.map(({ definition }) => definition.name));
  const left = live.filter((entry) => entry.source === source && !declaredNames.has(entry.definition.name));
  const gone = standing === 'newer' ? left.filter(({ state }) => state !== 'removed') : [];
  const differing = pairs.filter(({ declared, entry }) => !isSame(declared, entry));
  const changes = [...differing, ...gone.map((entry) => ({ declared: undefined, entry }))];
  return {
    ...{ source, buildSeq: build.buildSeq, lastSeq, standing },
    changes: changes.map((pair) => changeOf(pair, standing, { from, to })),
    same: pairs.length - differing.length,
  };
}

function onlySource(live: readonly CatalogEntry[]): string {
  const sources = [...new Set(live.flatMap(({ source }) => (source === null ? [] : [source])))];
  if (sources.length <= 1) return sources[0] ?? 'default';
  throw new UsageError(
    `Expected --source, since ${sources.length} programs declare crons here: ${sources.join(', ')}. Name the program of this build.`,
  );
}

function precedenceOf(seq: number | null, last: number | null): Precedence {
  if (seq === null || last === null || seq > last) return 'newer';
  return seq === last ? 'equal' : 'older';
}

interface Pair {
  readonly declared: Declaration | undefined;
  readonly entry: CatalogEntry | undefined;
}

function isSame(declared: Declaration, entry: CatalogEntry | undefined): boolean {
  if (entry === undefined || entry.state === 'removed') return false;
  return contentHash(declared) === contentHash({ definition: entry.definition, disabled: entry.state === 'disabled' });
}

function changeOf(
  { declared, entry }: Pair,
  standing: Precedence,
  { from, to }: { from: number; to: number },
): CronChange {
  const change = kindOf({ declared, entry }, standing);
  const defines = change !== 'older' && change !== 'conflict';
  const live = entry?.state === 'active' ? instantsOf(entry.definition, from, to) : [];
  const planned = declared?.disabled === false ? instantsOf(declared.definition, from, to) : [];
  return {
    cron: declared?.definition.name ?? entry?.definition.name ?? '',
    change,
    parts: declared && entry ? differingParts(entry, declared) : [],
    instants: instantDifference(defines ? live : [], defines ? planned : []),
  };
}

function kindOf({ declared, entry }: Pair, standing: Precedence): Change {
  if (declared === undefined) return 'removed';
  const there = entry !== undefined && entry.state !== 'removed';
  if (standing === 'older') return 'older';
  if (standing === 'equal' && there) return 'conflict';
  return there ? 'changed' : 'new';
}
