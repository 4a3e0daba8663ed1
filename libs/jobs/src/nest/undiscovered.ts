import { FencepostError } from '@fencepost/lease';
import { prototypesOf, type DecoratedMethod } from './decorated-methods.js';

/** A decorated method that would never run. */
export interface UndiscoveredMethod {
  readonly className: string;
  readonly method: string;
  readonly decorator: '@SingletonCron' | '@JobHandler';
  /** Completes "it does not run: …". */
  readonly reason: string;
}

/** As much of a provider as it takes to say why a method of its class is not found. */
export interface KnownProvider {
  readonly token: unknown;
  readonly instance: object | null;
  /** `null` for a value that is no object. */
  readonly prototype: object | null;
}

/** Names at most so many of them. */
const MAX_NAMED = 20;

/** The process refuses to start, because a cron that silently never runs is worse. */
export class UndiscoveredError extends FencepostError {
  readonly code = 'CRONS_UNDISCOVERED';

  constructor(readonly methods: readonly UndiscoveredMethod[]) {
    const count = methods.length === 1 ? 'A decorated method' : `${methods.length} decorated methods`;
    const more = methods.length > MAX_NAMED ? `\n- and ${methods.length - MAX_NAMED} more` : '';
    super(`${count} would never run:\n- ${textsOf(methods).join('\n- ')}${more}`);
  }
}

/** One line each, for errors and logs; at most twenty. */
export function textsOf(methods: readonly UndiscoveredMethod[]): string[] {
  return methods.slice(0, MAX_NAMED).map(textOf);
}

function textOf({ className, method, decorator, reason }: UndiscoveredMethod): string {
  return `${className}.${method} (${decorator}): ${reason}`;
}

/** Of the methods that no application has found, those that this one should have, and why it has not. */
export function undiscovered(
  methods: readonly DecoratedMethod[],
  providers: readonly KnownProvider[],
): UndiscoveredMethod[] {
  return methods
    .filter(({ holder }) => !isSubstituted(classOf(holder), providers))
    .map((method) => ({
      className: nameOf(method.holder),
      method: String(method.key),
      decorator: method.called,
      reason: reasonFor(method, providers),
    }));
}

/** A module provides something else in place of the class, as a test does with `overrideProvider`: that is meant. */
function isSubstituted(type: unknown, providers: readonly KnownProvider[]): boolean {
  const substitutes = providers.filter(({ token, instance }) => token === type && instance !== null);
  return substitutes.length > 0 && !providers.some(({ prototype }) => inherits(prototype, classPrototype(type)));
}

function reasonFor({ holder, key }: DecoratedMethod, providers: readonly KnownProvider[]): string {
  const name = nameOf(holder);
  if (typeof holder === 'function') return 'it is static, and a decorator needs a method of an instance';
  const chains = providers.map(({ prototype }) => (prototype === null ? [] : prototypesOf(prototype)));
  const chain = chains.find((prototypes) => prototypes.includes(holder));
  if (!chain) {
    return (
      `no module of this application provides it; add ${name} to the providers of a module ` +
      `(if a lazy module does, load it before bootstrap, or set undiscovered: 'warn')`
    );
  }
  const owner = chain.find((prototype) => Object.hasOwn(prototype, key));
  return owner === undefined || owner === holder
    ? 'another decorator has replaced the method by something that is not a function'
    : `${nameOf(owner)} overrides it without a decorator; decorate the override too`;
}

function inherits(prototype: object | null, holder: unknown): boolean {
  return prototype !== null && prototypesOf(prototype).some((one) => one === holder);
}

function classOf(holder: object): unknown {
  return typeof holder === 'function' ? holder : holder.constructor;
}

function classPrototype(type: unknown): unknown {
  return typeof type === 'function' ? type.prototype : null;
}

function nameOf(holder: object): string {
  const { name } = typeof holder === 'function' ? holder : holder.constructor;
  return name === '' ? 'an anonymous class' : name;
}
