import { mixed, seededRandom } from '../support/seeded-random.js';
import { REMOVE_AFTER_MS } from './cadence.js';
import { ROLLOUTS } from './rollout-kinds.js';

export const MISHAPS = [
  ...['crash', 'crash at a call', 'freeze', 'freeze at a call', 'machine sleep', 'clock jump'],
  ...['lost requests', 'lost replies', 'delays', 'duplicates', 'partition', 'isolation', 'outage'],
  ...['wipe', 'failover', 'lost jobs', 'repeated jobs'],
  ...ROLLOUTS,
  ...['pause', 'trigger', 'cancel', 'backfill', 'retry'],
] as const;
export type MishapKind = (typeof MISHAPS)[number];

/** How often each is drawn, beside the others. */
const WEIGHTS: Readonly<Partial<Record<MishapKind, number>>> = {
  crash: 3,
  'crash at a call': 5,
  freeze: 3,
  'freeze at a call': 2,
  'clock jump': 2,
  'lost replies': 2,
  'repeated jobs': 2,
  trigger: 3,
  cancel: 4,
};

/** One thing that goes wrong, or that somebody does. All that it will do follows from these few numbers. */
export interface Mishap {
  /** Its place in the plan of its seed: what `--only` names. */
  readonly index: number;
  readonly kind: MishapKind;
  /** Milliseconds since the start. */
  readonly at: number;
  readonly forMs: number;
  /** From 0 up to 1: whom it strikes, and how hard. */
  readonly target: number;
  readonly strength: number;
  readonly seed: number;
}

export interface Plan {
  readonly seed: number;
  readonly days: number;
  /** Whether the ledger outlives the other stores, and whether the definitions are beside it. */
  readonly durable: boolean;
  readonly keepsCatalog: boolean;
  /** The option of the applications. */
  readonly removeAfterMs: number;
  readonly heartbeatMs: number;
  readonly mishaps: readonly Mishap[];
}

/** So that it ends within a day, which is minutes of a real deployment. */
const SHORT_REMOVE_AFTER_MS = 60_000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const FEWEST_A_DAY = 12;
const MAX_A_DAY = 60;

/**
 * Everything that will go wrong, drawn at once, so that one mishap can be left out and the others stay as they are.
 * @param only the mishaps that are left, by their index; default: all
 */
export function drawPlan(
  seed: number,
  { days, only }: { readonly days: number; readonly only?: readonly number[] },
): Plan {
  const random = seededRandom(mixed(seed, 0));
  const durable = random() < 0.6;
  const keepsCatalog = durable && random() < 0.6;
  const removeAfterMs = random() < 0.3 ? REMOVE_AFTER_MS : SHORT_REMOVE_AFTER_MS;
  const heartbeatMs = MINUTE_MS * (3 + Math.floor(random() * 2));
  const count = Math.ceil((FEWEST_A_DAY + random() * (MAX_A_DAY - FEWEST_A_DAY)) * days);
  const drawn = Array.from({ length: count }, (_, n) => drawMishap(seededRandom(mixed(seed, n + 1)), days));
  const inTime = drawn.toSorted((a, b) => a.at - b.at);
  const mishaps = inTime.map((mishap, index) => ({ index, ...mishap }));
  const world = { seed, days, durable, keepsCatalog, removeAfterMs, heartbeatMs };
  return { ...world, mishaps: mishaps.filter(({ index }) => only?.includes(index) ?? true) };
}

function drawMishap(random: () => number, days: number): Omit<Mishap, 'index'> {
  return {
    kind: drawKind(random()),
    at: Math.floor(random() * days * DAY_MS),
    // Mostly minutes, now and then an hour or two.
    forMs: Math.ceil(MINUTE_MS * 120 ** random()),
    target: random(),
    strength: random(),
    seed: Math.floor(random() * 2 ** 32),
  };
}

function drawKind(luck: number): MishapKind {
  const weights = MISHAPS.map((kind) => WEIGHTS[kind] ?? 1);
  let left = luck * weights.reduce((sum, weight) => sum + weight, 0);
  const chosen = MISHAPS.find((_, n) => {
    left -= weights[n] ?? 0;
    return left < 0;
  });
  return chosen ?? 'crash';
}
