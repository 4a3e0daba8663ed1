/** Restores what was replaced. */
export type Restore = () => void;

/**
 * Lets `Date` tell the time of a test's clock, and `Math.random` follow from a seed: what a handler makes of them is
 * another value in another attempt, as it would be, and the same one in another torture. For the whole process.
 */
export function fakeGlobals(now: () => number, random: () => number): Restore {
  const [RealDate, realRandom] = [globalThis.Date, Math.random];
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
    apply: () => new RealDate(now()).toString(),
    get: (target, property) => (property === 'now' ? now : (Reflect.get(target, property) as unknown)),
  });
  Math.random = random;
  return () => {
    globalThis.Date = RealDate;
    Math.random = realRandom;
  };
}
