import { inspect } from 'node:util';
import { scrub } from '@fencepost/lease/internal';
import { parseDuration } from '@fencepost/lease/internal/options';
import { EffectOptionError } from './effect-errors.js';

/** A timer that waits longer fires at once. */
const MAX_TIMEOUT = '7d';

/** Reads the options of one effect, checking each before anything is begun. */
export class EffectOptionParser {
  readonly #given: Readonly<Record<string, unknown>>;

  /**
   * @param of what the options belong to, such as `the effect "mail"`
   * @throws {EffectOptionError} for a value that is no object, and for an unknown option
   */
  constructor(
    private readonly of: string,
    { given = {}, known }: { readonly given: unknown; readonly known: readonly string[] },
  ) {
    if (typeof given !== 'object' || given === null) throw this.refusal('options', 'an object', given);
    const stranger = Object.keys(given).find((option) => !known.includes(option));
    const expected = `one of ${known.join(', ')}`;
    if (stranger !== undefined)
      throw new EffectOptionError(of, `"${stranger}"`, { expected, got: 'an unknown option' });
    this.#given = given as Record<string, unknown>;
  }

  value(option: string): unknown {
    return this.#given[option];
  }

  /** The value if it `fits`, or `otherwise` if none is given. */
  read<T>(option: string, expected: string, { fits, otherwise }: Reading<T>): T {
    const value = this.value(option);
    if (value === undefined) return otherwise;
    if (fits(value)) return value;
    throw this.refusal(option, expected, value);
  }

  whole(option: string, otherwise: number, max: number): number {
    const fits = (value: unknown): value is number =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max;
    return this.read(option, `a whole number from 1 to ${max}`, { fits, otherwise });
  }

  /** Milliseconds, `null` if none is given. */
  duration(option: string, longest = Number.MAX_SAFE_INTEGER): number | null {
    const value = this.value(option);
    if (value === undefined) return null;
    const ms = milliseconds(value);
    if (ms !== null && ms >= 1 && ms <= longest) return ms;
    const atMost = longest === Number.MAX_SAFE_INTEGER ? '' : ` of at most '${MAX_TIMEOUT}'`;
    throw this.refusal(option, `a duration such as '30s'${atMost}, or milliseconds from 1`, value);
  }

  timeout(): number | null {
    return this.duration('timeout', parseDuration(MAX_TIMEOUT));
  }

  refusal(option: string, expected: string, value: unknown): EffectOptionError {
    // A payload may contain anything.
    const isPayload = option === 'payload' && typeof value === 'object';
    const got = isPayload ? 'an object with other fields' : inspect(scrub(value), { depth: 1, breakLength: Infinity });
    return new EffectOptionError(this.of, option, { expected, got });
  }
}

interface Reading<T> {
  readonly fits: (value: unknown) => value is T;
  readonly otherwise: T;
}

function milliseconds(value: unknown): number | null {
  try {
    return parseDuration(value as string);
  } catch {
    return null;
  }
}
