import 'reflect-metadata';

/** What the decorator `@SingletonCron` leaves; checked at boot, when class and method can be named. */
export interface CronMetadata {
  readonly expression: unknown;
  readonly options: unknown;
}

/** What the decorator `@JobHandler` leaves. */
export interface JobMetadata {
  readonly name: unknown;
  readonly options: unknown;
}

type Declared =
  | { readonly called: '@SingletonCron'; readonly metadata: CronMetadata }
  | { readonly called: '@JobHandler'; readonly metadata: JobMetadata };

/** One decorator at one method; a method may have several. */
export type DecoratedMethod = Declared & {
  /** The prototype with the method; the class itself for a static method. */
  readonly holder: object;
  readonly key: PropertyKey;
};

/** A decorator that applies to an object, and the key of the method there. */
export interface PlacedMethod {
  readonly key: PropertyKey;
  readonly decorated: DecoratedMethod;
}

/**
 * At the holder, not at the function: another decorator may replace that. As metadata, so that two copies of this package in one
 * process read the same.
 */
const DECORATED = 'fencepost:decorated-methods';

/** By function: a mixin copies functions from one prototype to another. */
const byFunction = new WeakMap<object, readonly DecoratedMethod[]>();

/** Of all classes that this process has evaluated, in that order. */
const all = new Set<DecoratedMethod>();
/** Those that an application of this process has found among its providers. */
const found = new WeakSet<DecoratedMethod>();
const listeners = new Set<() => void>();

/** A decorator of methods that records the method for {@link decoratedOn}. */
export function decorateWith(declared: Declared): MethodDecorator {
  return (holder, key, descriptor: PropertyDescriptor | undefined) => {
    const decorated: DecoratedMethod = { ...declared, holder, key };
    const method: unknown = descriptor?.value;
    // Decorators apply from the bottom up.
    Reflect.defineMetadata(DECORATED, [decorated, ...decoratedAt(holder)], holder);
    if (typeof method === 'function') byFunction.set(method, [decorated, ...(byFunction.get(method) ?? [])]);
    all.add(decorated);
    for (const listener of listeners) listener();
  };
}

function decoratedAt(holder: object): readonly DecoratedMethod[] {
  return (Reflect.getOwnMetadata(DECORATED, holder) as readonly DecoratedMethod[] | undefined) ?? [];
}

const LAST: ReadonlySet<object> = new Set([Object.prototype, Function.prototype]);

/** The objects on which a method of this one may stand: itself first. */
export function prototypesOf(object: object): object[] {
  const chain: object[] = [];
  for (let at: object | null = object; at && !LAST.has(at); at = Reflect.getPrototypeOf(at)) chain.push(at);
  return chain;
}

/** The decorated methods of an object and those that it inherits, except where a method overrides them. Calls no accessor. */
export function decoratedOn(object: object): PlacedMethod[] {
  const placed: PlacedMethod[] = [];
  const seen = new Set<PropertyKey>(['constructor']);
  for (const at of prototypesOf(object)) {
    const here = decoratedAt(at);
    for (const key of Reflect.ownKeys(at)) {
      if (!seen.has(key)) placed.push(...decoratedUnder(key, at, here).map((decorated) => ({ key, decorated })));
      seen.add(key);
    }
  }
  return placed;
}

function decoratedUnder(key: PropertyKey, at: object, here: readonly DecoratedMethod[]): readonly DecoratedMethod[] {
  const { value, get } = Reflect.getOwnPropertyDescriptor(at, key) ?? {};
  // A decorator that binds the method replaces it with an accessor.
  if (typeof value !== 'function' && !get) return [];
  const own = here.filter((decorated) => decorated.key === key);
  return own.length > 0 || !value ? own : (byFunction.get(value as object) ?? []);
}

export function markFound(decorated: DecoratedMethod): void {
  found.add(decorated);
}

/** Of all classes of this process those methods that no application of it has found yet. */
export function notFound(): DecoratedMethod[] {
  return [...all].filter((decorated) => !found.has(decorated));
}

/** Every decorated method of this process. */
export function allDecorated(): ReadonlySet<DecoratedMethod> {
  return all;
}

/** Calls back for each method that is decorated from now on. @returns stops it */
export function onDecorated(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
