import { createHash } from 'node:crypto';
import type { DstRule } from '@fencepost/schedule';
import { FIRST_FORMAT } from '../base/format.js';
import type { OverlapPolicy } from '../base/run.js';
import type { Revision } from './revision.js';

export const DEFAULT_MAX_CATCH_UP = 20;

/** What a text that people give a cron must be: a sentence for messages, and the pattern. */
export interface CronText {
  readonly expected: string;
  readonly pattern: RegExp;
}

/**
 * The texts that people give a cron. A control character or half a surrogate pair would break a terminal, a header or a store.
 * An `@` in an address would carry credentials, or look as if it did wherever texts are scrubbed: a path has `%40`.
 */
export const CRON_TEXTS = {
  tag: {
    expected: 'a tag of 1 to 40 of a-z, 0-9 and . _ -, beginning with a letter or digit',
    pattern: /^[a-z0-9][a-z0-9._-]{0,39}$/,
  },
  description: { expected: 'a text of 1 to 500 characters', pattern: /^(?=\S)[^\p{Cc}\p{Cs}]{1,500}(?<=\S)$/u },
  owner: { expected: 'a team or person in 1 to 80 characters', pattern: /^(?=\S)[^\p{Cc}\p{Cs}]{1,80}(?<=\S)$/u },
  runbookUrl: {
    expected:
      'an http or https address of at most 500 characters, such as "https://wiki.example/runbook", without "@" or credentials',
    pattern: /^(?=.{1,500}$)https?:\/\/[^\s\p{Cc}\p{Cs}"<>\\/?#@]+([/?#][^\s\p{Cc}\p{Cs}"<>\\@]*)?$/u,
  },
} as const satisfies Record<string, CronText>;

/** What to do with instants that nobody enqueued in time. */
export type MisfirePolicy = 'skip' | 'fire-once' | 'fire-all';

/** All that a scheduler pod has to know of a cron. Plain data: the handler stays with the workers. */
export interface CronDefinition {
  readonly name: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly misfire: MisfirePolicy;
  readonly overlap: OverlapPolicy;
  /** Later than this after its instant, an occurrence counts as late. */
  readonly graceMs: number;
  /** How far back missed instants are still made up for, at least the grace; `null`: one period, at most 24 hours. */
  readonly catchUpWindowMs: number | null;
  /** What becomes of a fixed time where clocks change; absent for the default, `next-valid` and `first`. */
  readonly dst?: DstRule;
  /** Over how long crons of the same expression are spread; absent for not at all. */
  readonly spreadMs?: number;
  /** How close two instants may be at the least; absent for any distance. */
  readonly minIntervalMs?: number;
  /** With `fire-all`, how many missed instants are made up for at the most; absent for {@link DEFAULT_MAX_CATCH_UP}. */
  readonly maxCatchUp?: number;
  /** How many runs may be open at once before the overlap policy applies; absent for 1. */
  readonly maxConcurrency?: number;
  /** A run that no worker has begun so long after it was due is skipped as `misfire`; absent for no such limit. */
  readonly startDeadlineMs?: number;
  /** With `replace`, how long the old run may go on after it was cancelled; absent for 30 seconds. */
  readonly cancelGraceMs?: number;
  /** An alarm is raised when it has not succeeded for so long, milliseconds; absent for no such alarm. */
  readonly expectEveryMs?: number;
  /** An alarm is raised when an instant has no run that has ended so long after it was due, milliseconds; absent for none. */
  readonly lateAfterMs?: number;
  /** Addresses that are called when something happens to it; absent for none. */
  readonly ping?: CronPing;
  /** Whose method carries its runs out: the name of a cron that is declared in code; absent for its own. */
  readonly handler?: string;
  /** What its runs get as `payload`, any JSON; absent for `null`. */
  readonly payload?: unknown;
  /** What people group crons by, in order; absent for none. */
  readonly tags?: readonly string[];
  /** What it is for, in one paragraph; absent for nothing said. Like the next two, for people: no run depends on it. */
  readonly description?: string;
  /** The team or person to turn to; absent for nobody named. */
  readonly owner?: string;
  /** Where it says what to do when it fails; absent for nowhere. */
  readonly runbookUrl?: string;
}

/** What is called, with `GET`, when a run has succeeded, has failed, or needs a person, and when an instant is missed or late. */
export interface CronPing {
  readonly success?: string;
  readonly failure?: string;
  readonly missed?: string;
  readonly uncertain?: string;
}

/** Whether a cron fires: `disabled` by its own declaration, `removed` because no live pod declares it, or by an operator. */
export type CronState = 'active' | 'disabled' | 'removed';

/** One generation of a cron: its instants are those after `since` and up to the `since` of the next one. */
export interface Generation {
  /** Rises by one with each accepted change; a claim under a lower one than the last accepted is refused. */
  readonly generation: number;
  readonly state: CronState;
  readonly definition: CronDefinition;
  /** From when on it is effective, epoch milliseconds of the store; {@link EFFECTIVE_AFTER_MS} after it was accepted. */
  readonly since: number;
  /** Who changed it: `<app> revision <number>`, or the person who asked. */
  readonly by: string;
  readonly reason: string | null;
  /**
   * When its number was raised, epoch milliseconds of the store: the catalog had been lost, and the ledger knew higher ones.
   * What was claimed before that bears another number.
   */
  readonly renumberedAt?: number;
}

/** A cron as the catalog has it. The fields of its own are the newest generation, which may not be effective yet. */
export interface CatalogEntry extends Generation {
  /** The generations before, oldest first, the last {@link KEPT_GENERATIONS} of them. */
  readonly past: readonly Generation[];
  /** The app that declares it; `null` for a cron that was made at run time. */
  readonly app: string | null;
  /** The revision of that app that is in force; `null` for a cron that was made at run time, or declared by a former build. */
  readonly revision: Revision | null;
  /** Version of the time zone database (`process.versions.tz`) of whoever had the newest generation accepted. */
  readonly zoneData: string;
}

/**
 * A change is effective so long after it was accepted, in milliseconds of the store's clock. A pod that read the catalog at
 * T therefore knows for sure which generation each instant up to T + this belongs to, and claims no later one.
 *
 * The first generation of a cron is effective at once: no other can claim its instants.
 */
export const EFFECTIVE_AFTER_MS = 2_000;

export const KEPT_GENERATIONS = 50;

/** A declared cron: its definition, or the wish that it doesn't fire. */
export interface Declaration {
  readonly definition: CronDefinition;
  readonly disabled: boolean;
}

/**
 * The content of a declaration in few characters: equal hashes mean equal declarations.
 *
 * An absent option adds nothing, so a new option changes no hash until someone uses it.
 */
export function contentHash(declaration: Declaration): string {
  const { definition, disabled } = declaration;
  const content = [
    definition.name,
    definition.expression,
    definition.timeZone,
    definition.misfire,
    definition.overlap,
    definition.graceMs,
    definition.catchUpWindowMs,
    disabled,
    ...refinements(definition),
  ];
  return digest(content, 16) + textsHash(definition);
}

/** Behind the hash of the rest: a declaration that has its texts yet to come is known by the beginning of its hash. */
function textsHash(definition: CronDefinition): string {
  const texts = TEXTS.flatMap((name) => (definition[name] === undefined ? [] : [[name, definition[name]] as const]));
  return texts.length === 0 ? '' : digest(texts, 8);
}

function digest(content: unknown, length: number): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, length);
}

/** What format 3 added. */
const TEXTS = ['description', 'owner', 'runbookUrl'] as const;
const TEXTS_FORMAT = 3;

/** The lowest format that has all of a definition. */
export function formatOf(definition: CronDefinition): number {
  return TEXTS.some((name) => definition[name] !== undefined) ? TEXTS_FORMAT : FIRST_FORMAT;
}

/** What of a declaration a format has. */
export function inFormat(declaration: Declaration, format: number): Declaration {
  if (formatOf(declaration.definition) <= format) return declaration;
  const { description: _, owner: _owner, runbookUrl: _url, ...definition } = declaration.definition;
  return { ...declaration, definition };
}

/** Whether a declaration is one that is known, with its texts yet to come; by their hashes. */
export function lacksTexts(hash: string, known: string): boolean {
  return hash.length < known.length && known.startsWith(hash);
}

function refinements(definition: CronDefinition): (readonly [string, ...unknown[]])[] {
  const { dst, spreadMs, minIntervalMs, ping } = definition;
  return [
    ...(dst ? [['dst', dst.gap, dst.repeat] as const] : []),
    ...(spreadMs === undefined ? [] : [['spread', spreadMs] as const]),
    ...(minIntervalMs === undefined ? [] : [['minInterval', minIntervalMs] as const]),
    ...LATER_OPTIONS.flatMap((name) => (definition[name] === undefined ? [] : [[name, definition[name]] as const])),
    ...(ping ? [['ping', sorted(ping)] as const] : []),
    ...((definition.payload ?? null) === null ? [] : [['payload', sorted(definition.payload)] as const]),
  ];
}

const LATER_OPTIONS = [
  'maxCatchUp',
  'maxConcurrency',
  'startDeadlineMs',
  'cancelGraceMs',
  'handler',
  'expectEveryMs',
  'lateAfterMs',
  'tags',
] as const;

/** The same JSON whatever order its keys were written in: two programs that mean the same are in no conflict. */
function sorted(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(sorted);
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, sorted(value)]));
}
