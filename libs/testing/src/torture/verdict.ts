import { throughs, type TortureFinding, type TortureFindingKind } from './findings.js';
import { mishapText, type TortureMishap } from './mishap.js';
import type { Call, EffectKind, Policy, Observations } from './observations.js';

/** One run of a torture: what happened to it, and what was seen. */
export interface Played {
  /** 0: nothing happened to it. */
  readonly nth: number;
  readonly struck: readonly TortureMishap[];
  readonly seen: Observations;
  readonly findings: readonly TortureFinding[];
  /** What the undisturbed run calls an effect that has another name in this one. */
  readonly nameOf: (name: string) => string;
}

export interface TorturedEffect {
  readonly name: string;
  readonly kind: EffectKind;
  /** Of its function, in all runs. */
  readonly calls: number;
  /** Of one run, or of one item in one run: so many came through. */
  readonly most: number;
  readonly safe: boolean;
  /** Why it is safe, or each reason why it is not. One sentence each. */
  readonly reasons: readonly string[];
  /** What had happened in the run that showed it worst; `null` where nothing did. */
  readonly mishap: string | null;
  /** The run that shows it, by its number; `null` for a safe one, and where nothing had to happen. */
  readonly only: number | null;
}

const KEY = 'pass its idempotencyKey on';
const COMPUTE = 'compute what changes before it, in an effect of its own, or take it from run.scheduledAt';

/** What is wrong, and what to do. */
const SENTENCE: Record<TortureFindingKind, (detail: string) => string> = {
  repeated: (times) =>
    `Called ${times} times in one run, and never looked at idempotencyKey nor fence: its provider can not tell the ` +
    `repetition. Let its function ${KEY}, or say ifUnknown: 'ask', or give a lookup.`,
  'lookup-wrong': (times) =>
    `Its lookup said 'not-done', and it came through ${times} times in one run: a call was still on its way, or the lookup ` +
    `is wrong. Let its function ${KEY}, or hand its signal on.`,
  'went-on': () =>
    'A call went on after its attempt was over, beside that of another attempt, and looked at nothing of its context: hand ' +
    'its signal on, and the idempotencyKey or the fence.',
  'began-late': () =>
    'It was called after the signal of its run had aborted: that is a fault of the engine, please report it.',
  'other-name': (other) =>
    `Another attempt of the same run called it ${JSON.stringify(other)}: what was begun under the first name is never asked ` +
    `about again. Give it one name; ${COMPUTE}.`,
  'other-payload': () => `Another attempt of the same run had another payload for it: ${COMPUTE}.`,
  'same-name': () =>
    'Two effects of one attempt have this name, and the second is refused: give each a name of its own.',
  'keys-change': () =>
    'Items have other keys in another attempt of the same run, so what is done is done again: take the key from what the ' +
    'item is, not from its place, the time or chance.',
  swallowed: (error) =>
    `The handler let it fail with ${error} and returned as if nothing were: it goes on when it is no longer its turn. Let ` +
    'that error pass.',
};

interface Judging {
  readonly played: readonly Played[];
  readonly name: string;
  /** Whoever wrote it says that it changes nothing. */
  readonly harmless: boolean;
}

/** What all runs of a torture say about one effect. */
export function verdictOn({ played, name, harmless }: Judging): TorturedEffect {
  const isOwn =
    ({ nameOf }: Played) =>
    (one: { readonly name: string }) =>
      nameOf(one.name) === name;
  const throughIn = (run: Played) => throughs(run.seen).filter(([call]) => call && isOwn(run)(call));
  const own = played.flatMap((run) => throughIn(run));
  const most = Math.max(0, ...own.map(({ length }) => length));
  const found = played.flatMap(({ findings, ...run }) =>
    findings
      .filter(({ effect, kind }) => run.nameOf(effect) === name && !(harmless && isRepetition(kind)))
      .map((finding) => ({ ...run, ...finding })),
  );
  const calls = played.flatMap((run) => run.seen.calls.filter(isOwn(run)));
  const request = played.flatMap((run) => run.seen.requests.filter(isOwn(run)))[0];
  const { kind = 'effect', policy = 'retry' } = request ?? {};
  const [worst] = found.toSorted((a, b) => Number(b.detail) - Number(a.detail) || a.struck.length - b.struck.length);
  const fewest = played.toSorted((a, b) => a.struck.length - b.struck.length);
  const shown = worst ?? fewest.find((run) => throughIn(run).some(({ length }) => length === most));
  const base = { name, kind, calls: calls.length, most, mishap: textOf(shown?.struck ?? []) };
  if (!worst) return { ...base, safe: true, reasons: [whySafe({ calls, kind, most, policy, harmless })], only: null };
  return { ...base, safe: false, reasons: sentences(found), only: worst.nth === 0 ? null : worst.nth };
}

function isRepetition(kind: TortureFindingKind): boolean {
  return kind === 'repeated' || kind === 'lookup-wrong' || kind === 'went-on';
}

/** One of each kind, the worst number of each. */
function sentences(found: readonly TortureFinding[]): string[] {
  const worst = new Map<TortureFindingKind, TortureFinding>();
  for (const finding of found) {
    const known = worst.get(finding.kind);
    if (!known || Number(finding.detail) > Number(known.detail)) worst.set(finding.kind, finding);
  }
  return [...worst.values()].map(({ kind, detail }) => SENTENCE[kind](detail));
}

interface Safe {
  readonly calls: readonly Call[];
  readonly kind: EffectKind;
  readonly most: number;
  readonly policy: Policy;
  readonly harmless: boolean;
}

function whySafe({ calls, kind, most, policy, harmless }: Safe): string {
  if (kind === 'transaction') return 'A transaction: its rows and the record that it is done commit together.';
  if (most > 1 && harmless) return 'It is said to change nothing: it may be repeated.';
  const reads = (what: 'idempotencyKey' | 'fence') => calls.length > 0 && calls.every((call) => call.reads.has(what));
  if (reads('idempotencyKey')) return 'It looks at its idempotencyKey: a provider that remembers keys does it once.';
  if (most > 1 || reads('fence'))
    return 'It looks at its fence: a sink that keeps the largest one refuses an attempt that is over.';
  if (policy === 'ask') return 'Where nobody knows whether it has happened, a person is asked.';
  if (policy === 'lookup') return 'Where nobody knows whether it has happened, its lookup says.';
  return most === 0 ? 'It was never called.' : 'At most one call of it came through in any run.';
}

function textOf(struck: readonly TortureMishap[]): string | null {
  return struck.length === 0 ? null : struck.map(mishapText).join('; ');
}
