import { isSame } from './recorder.js';
import type { Call, ItemKey, Policy, Request, Observations } from './observations.js';

/** What is not safe about an effect. */
export type TortureFindingKind =
  | 'repeated'
  | 'lookup-wrong'
  | 'went-on'
  | 'began-late'
  | 'other-name'
  | 'other-payload'
  | 'same-name'
  | 'keys-change'
  | 'swallowed';

export interface TortureFinding {
  readonly kind: TortureFindingKind;
  readonly effect: string;
  /** What makes the sentence: a number, another name, an error. */
  readonly detail: string;
}

/** What one run shows of its effects. @param usual keys of items as the undisturbed run had them, how many of each name */
export function findingsOf(seen: Observations, usual: ReadonlyMap<string, number>): TortureFinding[] {
  return [
    ...repetitions(seen),
    ...lateCalls(seen),
    ...sameNames(seen.requests),
    ...otherNames(seen),
    ...otherPayloads(seen.requests),
    ...changedKeys(seen.keys, usual),
    ...seen.swallowed.map(({ name, error }) => ({ kind: 'swallowed' as const, effect: name, detail: error })),
  ];
}

/** Calls of one effect, or of one item, that came through or may have. */
export function throughs({ calls }: Pick<Observations, 'calls'>): Call[][] {
  const through = calls.filter(({ ended }) => ended !== 'threw');
  const first = through.filter((call, n) => through.findIndex((other) => isSame(other, call)) === n);
  return first.map((call) => through.filter((other) => isSame(other, call)));
}

function repetitions(seen: Observations): TortureFinding[] {
  return throughs(seen).flatMap((calls) => {
    const [call] = calls;
    const isTold = calls.every(({ reads }) => reads.has('idempotencyKey') || reads.has('fence'));
    if (!call || calls.length < 2 || isTold || isTransaction(seen, call.name)) return [];
    const denied =
      policyOf(seen, call.name) === 'lookup' &&
      seen.looked.some(({ name, answer }) => name === call.name && answer === 'not-done');
    const kind = denied ? 'lookup-wrong' : 'repeated';
    return [{ kind, effect: call.name, detail: `${calls.length}` } as const];
  });
}

function lateCalls({ calls }: Observations): TortureFinding[] {
  return calls.flatMap(({ name: effect, beganLate, wentOn, reads }) => [
    ...(beganLate ? [{ kind: 'began-late' as const, effect, detail: '' }] : []),
    ...(wentOn && reads.size === 0 ? [{ kind: 'went-on' as const, effect, detail: '' }] : []),
  ]);
}

function sameNames(requests: readonly Request[]): TortureFinding[] {
  const again = requests.filter(
    ({ attempt, name }, n) => requests.findIndex((other) => other.attempt === attempt && other.name === name) < n,
  );
  return again.map(({ name: effect }) => ({ kind: 'same-name', effect, detail: '' }));
}

/** In the same place another name, and neither attempt has that of the other. */
function otherNames({ requests, ended }: Observations): TortureFinding[] {
  const attempts = [...new Set(requests.map(({ attempt }) => attempt))];
  const namesOf = (attempt: number) =>
    requests.filter((request) => request.attempt === attempt).map(({ name }) => name);
  return attempts.flatMap((attempt) =>
    attempts
      .filter((later) => later > attempt && ended.has(later))
      .flatMap((later) => renamed(namesOf(attempt), namesOf(later))),
  );
}

function renamed(before: readonly string[], after: readonly string[]): TortureFinding[] {
  return before.flatMap((name, n) => {
    const other = after[n];
    if (other === undefined || other === name || after.includes(name) || before.includes(other)) return [];
    return [{ kind: 'other-name', effect: name, detail: other } as const];
  });
}

function otherPayloads(requests: readonly Request[]): TortureFinding[] {
  const known = requests.filter(({ payloadHash }) => payloadHash !== null);
  const changed = known.filter(
    ({ name, payloadHash }) => known.find((first) => first.name === name)?.payloadHash !== payloadHash,
  );
  return changed.map(({ name: effect }) => ({ kind: 'other-payload', effect, detail: '' }));
}

function changedKeys(keys: readonly ItemKey[], usual: ReadonlyMap<string, number>): TortureFinding[] {
  const names = [...new Set(keys.map(({ name }) => name))];
  return names.flatMap((effect) => {
    const own = keys.filter(({ name }) => name === effect);
    return isRekeyed(own) || isReplaced(own, usual.get(effect) ?? Infinity)
      ? [{ kind: 'keys-change', effect, detail: '' } as const]
      : [];
  });
}

/** The same item under another key. Two items that are alike have two keys in one attempt already. */
function isRekeyed(keys: readonly ItemKey[]): boolean {
  return keys.some(({ attempt, hash, key }) => {
    if (hash === null) return false;
    const alike = keys.filter((other) => other.hash === hash);
    const before = alike.filter((other) => other.attempt < attempt).map((other) => other.key);
    const now = alike.filter((other) => other.attempt === attempt).map((other) => other.key);
    return (
      before.length > 0 && now.length >= before.length && now.includes(key) && !now.some((one) => before.includes(one))
    );
  });
}

/** None of an earlier attempt's, and together more than there are: a list that only got shorter has no more. */
function isReplaced(keys: readonly ItemKey[], usual: number): boolean {
  const all = new Set(keys.map(({ key }) => key));
  if (all.size <= usual) return false;
  const attempts = [...new Set(keys.map(({ attempt }) => attempt))];
  const sets = attempts.map((attempt) => new Set(keys.filter((one) => one.attempt === attempt).map(({ key }) => key)));
  return sets.some((one, n) => sets.slice(n + 1).some((later) => [...later].every((key) => !one.has(key))));
}

function isTransaction({ requests }: Observations, effect: string): boolean {
  return requests.some(({ name, kind }) => name === effect && kind === 'transaction');
}

function policyOf({ requests }: Pick<Observations, 'requests'>, effect: string): Policy | undefined {
  return requests.find(({ name }) => name === effect)?.policy;
}
