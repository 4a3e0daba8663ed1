import type { DiscoveryService } from '@nestjs/core';
import { CronDeclarationError } from './cron-declaration.js';
import { decoratedOn, type PlacedMethod } from './decorated-methods.js';

export type Provider = ReturnType<DiscoveryService['getProviders']>[number];

type Class = Function & { readonly prototype: object };

/** A decorated method of a provider, not checked yet. */
export interface Candidate extends PlacedMethod {
  readonly provider: Provider;
  /** The class of the provider: the one that declares the method, or a subclass. */
  readonly type: Class;
  /** Class and method. */
  readonly where: string;
}

/** Static methods too, though nothing can call them. */
export function candidatesOf(provider: Provider): Candidate[] {
  const prototype = prototypeOf(provider);
  const type: unknown = prototype && Reflect.get(prototype, 'constructor');
  if (prototype === null || !isClass(type)) return [];
  const placed = [...decoratedOn(prototype), ...decoratedOn(type)];
  return placed.map((one) => ({ ...one, provider, type, where: `${type.name}.${String(one.key)}` }));
}

/** @throws {CronDeclarationError} where no single instance can run the method */
export function checkCallable(candidate: Candidate): void {
  const { provider, decorated } = candidate;
  if (typeof decorated.holder === 'function') throw notCallable(candidate, 'an instance method', 'a static method');
  if (provider.isDependencyTreeStatic() && !provider.isTransient) return;
  throw notCallable(candidate, 'a singleton provider', 'a request-scoped or transient provider');
}

/** A factory or a value has no class of its own, so what counts is what it made. */
export function prototypeOf(provider: Provider): object | null {
  const instance = instanceOf(provider);
  const prototype: unknown = instance ? Object.getPrototypeOf(instance) : provider.metatype?.prototype;
  return isObject(prototype) ? prototype : null;
}

/** Nest leaves the prototype of a class that it has not made yet. */
export function instanceOf(provider: Provider): object | null {
  return isObject(provider.instance) ? provider.instance : null;
}

function notCallable({ where, decorated }: Candidate, expected: string, got: string): CronDeclarationError {
  return new CronDeclarationError(
    where,
    `${decorated.called} needs ${expected}, got ${got}. Move the method to a singleton.`,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isClass(value: unknown): value is Class {
  return typeof value === 'function';
}
