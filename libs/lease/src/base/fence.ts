declare const fenceBrand: unique symbol;

/**
 * A strictly increasing number issued with a term or an attempt. The store compares it, never the caller.
 *
 * On the wire and in Lua it is a decimal string, because Lua's `tostring` turns 1787654321123456 into
 * `1.7876543211235e+15`; in TypeScript it is a branded safe integer. Microseconds since 1970 reach 2^53 in the year 2255.
 */
export type Fence = number & { readonly [fenceBrand]: true };

const DECIMAL = /^(0|[1-9]\d{0,15})$/;

/**
 * Reads a fence as a store wrote it.
 * @throws {RangeError} when `text` is not a decimal whole number of at most 2^53 − 1
 */
export function parseFence(text: string): Fence {
  const value = Number(text);
  if (!DECIMAL.test(text) || !Number.isSafeInteger(value)) {
    throw new RangeError(`Expected a fence as a decimal whole number up to 2^53 - 1, got ${JSON.stringify(text)}.`);
  }
  return value as Fence;
}

/** The fence as it travels: in a script's ARGV, a header, a query parameter. */
export function formatFence(fence: Fence): string {
  return String(fence);
}

/** Below every fence a store issues: the floor for a resource without any write yet. */
export const NO_FENCE = 0 as Fence;
