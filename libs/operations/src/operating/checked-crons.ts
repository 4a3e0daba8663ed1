import { FencepostError } from '@fencepost/lease';
import { OperatorInputError } from '@fencepost/ledger';
import { CRON_NAME } from '@fencepost/ledger/run';

/** What is wrong with one of many crons. */
export interface CronProblem {
  /** Its place in what was given, from 1: the line of a file. */
  readonly position: number;
  /** `null` where it has no name. */
  readonly cron: string | null;
  readonly code: string;
  readonly detail: string;
}

/** So many problems are told one by one. */
export const MAX_PROBLEMS = 1_000;

/** Crons of a list are invalid: nothing was written. */
export class InvalidCronsError extends FencepostError {
  readonly code = 'INVALID_CRONS';

  constructor(
    /** The first 1,000, by position. */
    readonly problems: readonly CronProblem[],
    /** How many there are. */
    readonly count: number,
    total: number,
  ) {
    const [first] = problems;
    const where = first ? ` The first is number ${first.position}: ${first.detail}` : '';
    super(`Nothing was written: ${count} of ${total} crons are invalid.${where}`);
  }
}

/** One of many, which has been checked. */
export interface Wanted<What> {
  readonly position: number;
  readonly cron: string;
  readonly what: What;
}

/** Of many crons those that can be, and what is wrong with the others. */
export class CheckedCrons<What> {
  readonly #wanted: Wanted<What>[] = [];
  readonly #problems: CronProblem[];
  readonly #places = new Map<string, number>();

  /** @param before what was found wrong with others already */
  constructor(before: readonly CronProblem[] = []) {
    this.#problems = [...before];
  }

  add(position: number, cron: string, check: () => What): void {
    try {
      const twice = this.#places.get(cron);
      if (twice !== undefined) throw new OperatorInputError(`"${cron}" is number ${twice} as well: name it once.`);
      this.#wanted.push({ position, cron, what: check() });
      this.#places.set(cron, position);
    } catch (error) {
      if (!(error instanceof FencepostError)) throw error;
      const { code, message: detail } = error;
      this.#problems.push({ position, cron: typeof cron === 'string' ? cron : null, code, detail });
    }
  }

  /** @throws {InvalidCronsError} where any can't be */
  valid(): readonly Wanted<What>[] {
    const count = this.#problems.length;
    if (count === 0) return this.#wanted;
    const first = this.#problems.toSorted((a, b) => a.position - b.position).slice(0, MAX_PROBLEMS);
    throw new InvalidCronsError(first, count, this.#wanted.length + count);
  }
}

/** Each name once. */
export function checkedNames(names: Iterable<string>): CheckedCrons<null> {
  const found = new CheckedCrons<null>();
  for (const [n, name] of [...new Set(names)].entries()) {
    found.add(n + 1, name, () => {
      if (typeof name === 'string' && CRON_NAME.test(name)) return null;
      throw OperatorInputError.of('the name', 'the name of a cron', name);
    });
  }
  return found;
}
