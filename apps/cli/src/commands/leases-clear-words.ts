import type { Answers, OwnKind } from '../deployment/deployment.js';

/** What is to be cleared, as it was seen. */
export type Target =
  | { readonly kind: 'cron'; readonly name: string; readonly lease: Answers['HeldLease'] }
  | { readonly kind: OwnKind; readonly name: string; readonly lease: Answers['OwnLease'] };

const WHAT: Readonly<Record<Target['kind'], string>> = {
  cron: 'the lease of a cron',
  lease: 'a lease of the application itself',
  semaphore: 'one place of a semaphore',
  election: 'the role of an election',
  flight: 'the lease of a single flight',
};

/** What it is, who holds it, and what follows from clearing it. */
export function warningOf(seen: Target): string {
  const { name, kind, lease } = seen;
  const { holder, fence, remainingMs, heldSince } = lease;
  const since = heldSince === null ? '' : `, since ${heldSince.slice(0, 19)}Z`;
  const left = `for ${(remainingMs / 1_000).toFixed(1)} s more${since}`;
  const who = `${name} is ${WHAT[kind]}. ${holder} holds ${name} with fence ${fence}, ${left}`;
  return seen.kind === 'cron' ? `${who}${ofCron(seen.lease)}` : `${who}${ofOwn(seen.lease)}`;
}

function ofCron(lease: Answers['HeldLease']): string {
  const { holderState, holderSilentMs } = lease;
  if (holderState === 'live') {
    return (
      `, and IS ALIVE: it was heard ${((holderSilentMs ?? 0) / 1_000).toFixed(1)} s ago. If you clear the lease, its next ` +
      'renewal is refused, after a third of the ttl, and it stops acting for the cron; then a pod acquires the lease with a ' +
      'larger fence, and writes with the old fence are refused. This only helps if that pod is stuck.'
    );
  }
  const unheard =
    holderState === 'gone'
      ? 'it has not been heard for 15 s'
      : 'whether it lives is unknown, since it does not report: make sure that it is dead';
  const heard = holderSilentMs === null ? unheard : `it was last heard ${(holderSilentMs / 1_000).toFixed(1)} s ago`;
  return (
    `; ${heard}. If you clear the lease, another pod acquires it at once, with a larger fence. The ledger refuses what the old ` +
    'holder still writes; effects outside it have to be safe by themselves.'
  );
}

function ofOwn({ fence, holderIsPod }: Answers['OwnLease']): string {
  const heard = holderIsPod
    ? ', and IS ALIVE: it is a pod that reported in the last 15 s. Clearing only helps if its work is stuck'
    : '; whether it lives is unknown, since other processes do not report: make sure that it is dead';
  return (
    `${heard}. If you clear the lease, another process acquires it at once. Its downstream is safe if it refuses writes with ` +
    `fence ${fence} once it has seen a larger one, or if a late write does no damage there. A dead holder's lease ends by itself.`
  );
}
