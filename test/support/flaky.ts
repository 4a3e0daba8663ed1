/** What happens to a call: it fails before it reached its target, or after, or its answer never comes. */
export type Mishap = 'fail' | 'lose-reply' | 'hang' | { readonly heldBack: Promise<void> };

/** A method, or one of the port's sessions. */
type Method<T> = keyof T | `sessions.${string}`;

export interface Flaky<T extends object> {
  /** Stands in front of the target and has its type. */
  readonly port: T;
  /** Names of the methods called, in order. */
  readonly calls: Method<T>[];
  /** What happens to the next calls of a method; after that it works again. */
  next(method: Method<T>, ...mishaps: Mishap[]): void;
  /** Every call of every method fails until it is healed. */
  down(): void;
  heal(): void;
}

/** A port whose calls fail, hang, lose their reply or answer late when told to. */
export function flaky<T extends object>(target: T): Flaky<T> {
  const mishaps = new Map<PropertyKey, Mishap[]>();
  const calls: Method<T>[] = [];
  let away = false;
  const through = async (name: PropertyKey, call: () => unknown): Promise<unknown> => {
    calls.push(name as Method<T>);
    const mishap = away ? 'fail' : mishaps.get(name)?.shift();
    if (mishap === 'fail') throw new Error(`connect ECONNREFUSED: ${String(name)} did not get through`);
    if (mishap === 'hang') return new Promise(() => {});
    const reply = await call();
    if (mishap === 'lose-reply') throw new Error(`Command timed out: the reply of ${String(name)} got lost`);
    if (mishap !== undefined) await mishap.heldBack;
    return reply;
  };
  const before = <O extends object>(whole: O, prefix = ''): O =>
    new Proxy(whole, {
      get(object, name) {
        const value: unknown = Reflect.get(object, name);
        if (name === 'sessions' && typeof value === 'object' && value !== null) return before(value, 'sessions.');
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => through(prefix + String(name), () => Reflect.apply(value, object, args));
      },
    });
  const port = before(target);
  return {
    port,
    calls,
    next: (method, ...steps) => void mishaps.set(method, steps),
    down: () => void (away = true),
    heal: () => void (away = false),
  };
}
