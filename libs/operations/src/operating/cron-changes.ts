import { CronDeclarationError } from '@fencepost/jobs/errors';
import type { CatalogEntry, Declaration } from '@fencepost/ledger/catalog';
import type { CronSettings } from './cron-settings.js';
import { settingsOf } from './definition-change.js';

/** Options that are objects: their parts are changed one by one. */
type Parts = Pick<CronSettings, 'dst' | 'ping'>;

/**
 * Changes to a cron. An option that is not named, or is `undefined`, keeps its value; `null` resets it to its default. The same
 * goes for each part of `dst` and `ping`; `payload` and `tags` are replaced as a whole.
 */
export type CronChanges = {
  readonly [Option in Exclude<keyof CronSettings, keyof Parts>]?: CronSettings[Option] | null;
} & {
  readonly [Option in keyof Parts]?:
    | {
        readonly [Part in keyof NonNullable<Parts[Option]>]?: NonNullable<Parts[Option]>[Part] | null;
      }
    | null;
};

type Fields = Readonly<Record<string, unknown>>;

/** What a change would make of a cron. */
export interface CronPreview {
  /** The cron now; `null` for a new one. */
  readonly before: CatalogEntry | null;
  readonly declaration: Declaration;
}

type Check = (settings: CronSettings) => Declaration;

/**
 * A cron after a change.
 * @throws {CronDeclarationError} for an option that can't be; it says so where that option was kept
 */
export function changedCron(before: CatalogEntry | null, changes: CronChanges, check: Check): Declaration {
  const settings = changedSettings(before ? settingsOf(lastDefined(before)) : {}, changes);
  try {
    return check(settings);
  } catch (error) {
    const kept = error instanceof CronDeclarationError && before ? keptInTheWay(settings, changes, check) : null;
    if (kept === null) throw error;
    const { where, problem } = error as CronDeclarationError;
    throw new CronDeclarationError(where, `${problem} "${kept}" was not named and is kept: name it too, or reset it.`);
  }
}

/** A cron as it is, or was when it was removed. */
export function lastDefined({ definition, state, past }: CatalogEntry): Pick<CatalogEntry, 'definition' | 'state'> {
  return { definition, state: state === 'removed' ? (past.at(-1)?.state ?? 'active') : state };
}

/** The options of a cron after a change. */
function changedSettings(present: CronSettings, changes: CronChanges): CronSettings {
  const replaced = replacedBy(changes);
  const kept = Object.fromEntries(Object.entries(present).filter(([option]) => !replaced.includes(option)));
  const parts = { dst: changedParts(kept['dst'], changes.dst), ping: changedParts(kept['ping'], changes.ping) };
  return patched(patched(kept, changes), parts);
}

/** The kept option without which a change is valid, such as `maxCatchUp` beside another `misfire`; `null` if there is none. */
function keptInTheWay(settings: CronSettings, changes: CronChanges, check: Check): string | null {
  const kept = Object.keys(settings).filter((option) => !isGiven(Reflect.get(changes, option)));
  return kept.find((option) => isValid(patched(settings as Fields, { [option]: null }), check)) ?? null;
}

function isValid(settings: CronSettings, check: Check): boolean {
  try {
    check(settings);
    return true;
  } catch {
    return false;
  }
}

/** An interval takes the place of an expression with its zone, and the other way round. */
function replacedBy({ every, expression }: CronChanges): readonly string[] {
  if (isGiven(every)) return ['every', 'expression', 'timeZone', 'dst'];
  return isGiven(expression) ? ['every'] : [];
}

/** @returns `null` if no part is left; what is no object as it is, for the check to refuse */
function changedParts(present: unknown, changes: unknown): unknown {
  if (changes === undefined) return present;
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) return changes;
  const parts = patched(Object(present) as Fields, changes as Fields);
  return Object.keys(parts).length === 0 ? null : parts;
}

/** As a merge patch of one level: `null` takes an option away, `undefined` leaves it alone. */
function patched(present: Fields, changes: Fields): Fields {
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...present, ...Object.fromEntries(named) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
