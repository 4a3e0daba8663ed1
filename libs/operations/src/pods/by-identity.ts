import type { PodCard } from './pod-registry.js';

export function byIdentity(a: PodCard, b: PodCard): number {
  return a.pod < b.pod ? -1 : 1;
}
