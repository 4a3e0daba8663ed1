/** What happens to a call: it fails before it reached its target, or after, or its answer never comes. */
export type Mishap = 'fail' | 'lose-reply' | 'hang' | { readonly heldBack: Promise<void> };

export interface Flaky<T extends object> {
  /** Stands in front of the target and has its type. */
  readonly port: T;
  /** Names of the methods called, in order. */
  readonly calls: (keyof T)[];
  /** What happens to the next calls of a method; after that it works again. */
  next(method: keyof T, ...mishaps: Mishap[]): void;
  /** Every call of every method fails until it is healed. */
  down(): void;
  heal(): void;
}

/** A port whose calls fail, hang, lose their reply or answer late when told to. */
export function flaky<T extends object>(target: T): Flaky<T> {
  const mishaps = new Map<PropertyKey, Mishap[]>();
  const calls: (keyof T)[] = [];
  let away = false;
  const through = async (name: PropertyKey, call: () => unknown): Promise<unknown> => {
    calls.push(name as keyof T);
    const mishap = away ? 'fail' : mishaps.get(name)?.shift();
    if (mishap === 'fail') throw new Error(`connect ECONNREFUSED: ${String(name)} did not get through`);
    if (mishap === 'hang') return new Promise(() => {});
    const reply = await call();
    if (mishap === 'lose-reply') throw new Error(`Command timed out: the reply of ${String(name)} got lost`);
    if (mishap !== undefined) await mishap.heldBack;
    return reply;
  };
  const port = new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => through(name, () => Reflect.apply(value, object, args));
    },
  });
  return {
    port,
    calls,
    next: (method, ...steps) => void mishaps.set(method, steps),
    down: () => void (away = true),
    heal: () => void (away = false),
  };
}
