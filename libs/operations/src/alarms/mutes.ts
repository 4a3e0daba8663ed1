import { OperatorInputError } from '@fencepost/ledger';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { checkedText } from '@fencepost/jobs/internal';
import type { AlarmStore } from './alarm-store.js';

/** What is muted: one cron, or every cron with the tag. */
export type MuteTarget = { readonly cron: string } | { readonly tag: string };

/** Alarms are still raised, and their receivers do not hear of them. Times are epoch milliseconds of the store. */
export interface Mute {
  readonly cron: string | null;
  readonly tag: string | null;
  readonly since: number;
  readonly until: number;
  readonly by: string;
  readonly reason: string;
}

export interface MuteOrder {
  /** Epoch milliseconds, or for how long by the clock of the store. */
  readonly until?: number;
  readonly forMs?: number;
  readonly by: string;
  readonly reason: string;
}

/** The mutes of a tenant are one record beside the alarms of its crons, none of which can be called so. */
export const MUTES = ':mutes';

/** Each delivery reads all of them. */
const MAX_MUTES = 200;
/** More writers at the same moment than there are people. */
const MAX_TRIES = 20;

/** Mutes of crons and tags. Each ends by itself, and whoever reads them next removes it. */
export class Mutes {
  constructor(private readonly store: Pick<AlarmStore, 'read' | 'swap'>) {}

  /** Those in force, the one that ends first at the front. */
  async list(): Promise<readonly Mute[]> {
    const { was, all, live } = await this.#read();
    // Another one may have done it meanwhile.
    if (live.length < all.length) await this.#write(was, live);
    return live;
  }

  /**
   * Mutes, or changes the mute of the same target.
   * @throws {OperatorInputError} for an end that is past, a reason that is none, and where there are too many
   */
  async set(target: MuteTarget, { until, forMs, by, reason }: MuteOrder): Promise<Mute> {
    const words = { by: checkedText('by', by), reason: checkedText('reason', reason) };
    return this.#change((live, now) => {
      const end = forMs === undefined ? (until ?? now) : now + forMs;
      if (end <= now) throw new OperatorInputError(`Expected a mute that ends later than now, got ${iso(end)}.`);
      const others = live.filter((mute) => !isOn(mute, target));
      if (others.length >= MAX_MUTES) {
        throw new OperatorInputError(`Expected at most ${MAX_MUTES} mutes. Mute a tag, or end one of them.`);
      }
      const mute: Mute = { cron: null, tag: null, ...target, since: now, until: end, ...words };
      return { result: mute, mutes: [...others, mute].toSorted((a, b) => a.until - b.until) };
    });
  }

  /** @returns the mute that ended; `null`: there was none */
  end(target: MuteTarget): Promise<Mute | null> {
    return this.#change((live) => ({
      result: live.find((mute) => isOn(mute, target)) ?? null,
      mutes: live.filter((mute) => !isOn(mute, target)),
    }));
  }

  async #change<Result>(change: (live: readonly Mute[], now: number) => Changed<Result>): Promise<Result> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { was, now, live } = await this.#read();
      const { result, mutes } = change(live, now);
      if (await this.#write(was, mutes)) return result;
    }
    throw new OperatorInputError('Expected nobody else to change mutes at the same moment. Repeat the order.');
  }

  async #read() {
    const { now, records } = await this.store.read([MUTES]);
    const was = records[0] ?? null;
    const all = readMutes(was);
    return { was, now, all, live: all.filter(({ until }) => until > now) };
  }

  async #write(was: string | null, mutes: readonly Mute[]): Promise<boolean> {
    const is = mutes.length === 0 ? null : JSON.stringify(mutes);
    return was === is || (await this.store.swap([{ cron: MUTES, was, is }]))[0] === true;
  }
}

interface Changed<Result> {
  readonly result: Result;
  readonly mutes: readonly Mute[];
}

type Tagged = Pick<CronDefinition, 'name' | 'tags'>;

/** The mute that the cron is under, by its name or by a tag: the one that ends last. */
export function muteOf(mutes: readonly Mute[], { name, tags = [] }: Tagged): Mute | null {
  return mutes.findLast(({ cron, tag }) => cron === name || (tag !== null && tags.includes(tag))) ?? null;
}

function isOn(mute: Mute, target: MuteTarget): boolean {
  return 'cron' in target ? mute.cron === target.cron : mute.tag === target.tag;
}

/** One that can't be read mutes nothing: who is not told of an alarm is worse off than who is told twice. */
function readMutes(text: string | null): Mute[] {
  try {
    const mutes: unknown = text === null ? [] : JSON.parse(text);
    return Array.isArray(mutes) ? mutes : [];
  } catch {
    return [];
  }
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
