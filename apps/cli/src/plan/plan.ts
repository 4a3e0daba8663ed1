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
import type { DeclarationsFile } from './read-declarations.js';

/**
 * What becomes of a cron. `removed`: the app leaves it out, so it goes once no live pod has declared it for `removeAfter`.
 * `foreign`: it belongs to another app, which keeps it.
 */
export type Change = 'new' | 'changed' | 'removed' | 'foreign';

export interface CronChange {
  readonly cron: string;
  readonly change: Change;
  /** The app that it belongs to, where that is another one. */
  readonly owner: string | null;
  /** Which parts of the definition differ. */
  readonly parts: readonly string[];
  readonly instants: InstantDifference;
}

export interface Plan {
  readonly app: string;
  readonly changes: readonly CronChange[];
  readonly same: number;
}

export interface PlanQuestion {
  readonly live: readonly CatalogEntry[];
  readonly deploy: DeclarationsFile;
  readonly from: number;
  readonly to: number;
}

/**
 * What a deploy would change, by the same rules as the catalog, once the pods before it are gone.
 * @throws {UsageError} when several apps declare crons and the deploy doesn't say which one it is
 */
export function plan({ live, deploy, from, to }: PlanQuestion): Plan {
  const app = deploy.app ?? onlyApp(live);
  const known = new Map(live.map((entry) => [entry.definition.name, entry]));
  const pairs = deploy.declarations.map((declared) => ({ declared, entry: known.get(declared.definition.name) }));
  const declaredNames = new Set(deploy.declarations.map(({ definition }) => definition.name));
  const leftOut = live.filter((entry) => {
    return entry.state !== 'removed' && isOf(entry, app) && !declaredNames.has(entry.definition.name);
  });
  const differing = pairs.filter((pair) => !isSame(pair, app));
  const changes = [...differing, ...leftOut.map((entry) => ({ declared: undefined, entry }))];
  return {
    app,
    changes: changes.map((pair) => changeOf(pair, app, { from, to })),
    same: pairs.length - differing.length,
  };
}

function onlyApp(live: readonly CatalogEntry[]): string {
  const apps = [...new Set(live.flatMap(({ app }) => (app === null ? [] : [app])))];
  if (apps.length <= 1) return apps[0] ?? 'default';
  throw new UsageError(`Expected --app, since ${apps.length} apps declare crons here: ${apps.join(', ')}.`);
}

/** Former releases, whose declarations have no revision, added the path of the program to the name of its package. */
function isOf(entry: CatalogEntry, app: string): boolean {
  return entry.app === app || (entry.revision === null && (entry.app?.startsWith(`${app}/`) ?? false));
}

/** What was created at run time belongs to no app: the first that declares it gets it. */
function ownerOf(entry: CatalogEntry | undefined, app: string): string | null {
  if (!entry || entry.app === null || entry.state === 'removed') return null;
  return isOf(entry, app) ? null : entry.app;
}

interface Pair {
  readonly declared: Declaration | undefined;
  readonly entry: CatalogEntry | undefined;
}

function isSame({ declared, entry }: Pair, app: string): boolean {
  if (!declared || !entry || entry.state === 'removed' || ownerOf(entry, app) !== null) return false;
  return contentHash(declared) === contentHash({ definition: entry.definition, disabled: entry.state === 'disabled' });
}

function changeOf({ declared, entry }: Pair, app: string, { from, to }: { from: number; to: number }): CronChange {
  const owner = ownerOf(entry, app);
  const live = entry?.state === 'active' ? instantsOf(entry.definition, from, to) : [];
  const planned = declared?.disabled === false ? instantsOf(declared.definition, from, to) : [];
  return {
    cron: declared?.definition.name ?? entry?.definition.name ?? '',
    change: owner === null ? kindOf({ declared, entry }) : 'foreign',
    owner,
    parts: declared && entry ? differingParts(entry, declared) : [],
    instants: instantDifference(owner === null ? live : [], owner === null ? planned : []),
  };
}

function kindOf({ declared, entry }: Pair): Change {
  if (declared === undefined) return 'removed';
  return entry !== undefined && entry.state !== 'removed' ? 'changed' : 'new';
}
