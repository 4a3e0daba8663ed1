import { searchOrder, type Model, type Operation } from './linearizability.js';
import { CLAIM_MODEL } from './claim-model.js';
import type { Histories, RunOperation } from './history.js';
import { NOBODY, RUN_MODEL } from './run-model.js';

export interface LinearityReport {
  /** How many objects were looked at. */
  readonly histories: number;
  /** Those that no single-threaded object could have been, by name. */
  readonly broken: readonly string[];
  /** The histories of those, for whoever has to find out. */
  readonly evidence: readonly Pick<Judged, 'name' | 'history'>[];
  /** Those of which nobody can say within {@link MAX_STEPS}: too many of their replies got lost. */
  readonly undecided: readonly string[];
}

const MAX_STEPS = 200_000;

/** Begins that came with a job to processes which ended before they heard of it, and which nobody recorded, at most. */
const MAX_UNHEARD = 3;

/** At any time, or never. */
const UNHEARD: RunOperation = {
  ...{ input: { op: 'begin', request: { nonce: NOBODY } }, output: undefined },
  ...{ calledAt: 0, returnedAt: Infinity },
};

/**
 * Holds each object's recorded history against its model: every cron's cursor, and every run with its effects. A history that
 * spans a failover is judged like any other, as one object from its first call to its last: where the ledger is, nothing
 * counts that a failover can lose. With PostgreSQL it is not in what fails over, and with Redis each answer has waited for
 * all replicas (`waitReplicas`), also one that only tells what somebody else has written. Whoever writes without that, and be
 * it the person who answers, is found here: the object forgets what it has said.
 */
export function checkLinearity({ claims, runs }: Histories): LinearityReport {
  const named = new Map([...runs].map(([name, history]) => [name, withoutNames(history)]));
  const all = [
    ...judged(claims, CLAIM_MODEL, 'the claims of'),
    ...judged(named, RUN_MODEL, 'the run').map(withUnheard),
  ];
  const namesOf = (wanted: Judged['order']) => all.flatMap(({ name, order }) => (order === wanted ? [name] : []));
  const evidence = all.flatMap(({ name, order, history }) => (order === 'none' ? [{ name, history }] : []));
  return { histories: all.length, broken: namesOf('none'), evidence, undecided: namesOf('undecided') };
}

/** Attempts of which nobody ever heard again are as good as one another: the search takes them for the same. */
function withoutNames(history: readonly RunOperation[]): RunOperation[] {
  const used = history.flatMap(({ input }) => nonceIn(input) ?? []);
  const once = new Set(used.filter((nonce) => used.indexOf(nonce) === used.lastIndexOf(nonce)));
  return history.map((operation) => {
    const { input, output } = operation;
    if (input.op !== 'begin' || output !== undefined || !once.has(input.request.nonce)) return operation;
    return { ...operation, input: { op: 'begin', request: { nonce: NOBODY } } };
  });
}

function nonceIn(input: RunOperation['input']): string | undefined {
  if (input.op === 'begin') return input.request.nonce;
  return 'attempt' in input ? input.attempt.nonce : undefined;
}

/** With as few of them as it takes. */
function withUnheard(run: Judged): Judged {
  let { order } = run;
  for (let count = 1; order === 'none' && count <= MAX_UNHEARD; count += 1) {
    const unheard = Array.from({ length: count }, () => UNHEARD);
    order = searchOrder(RUN_MODEL, [...unheard, ...(run.history as readonly RunOperation[])], MAX_STEPS);
  }
  return { ...run, order };
}

interface Judged {
  readonly name: string;
  readonly history: readonly Operation<unknown, unknown>[];
  readonly order: ReturnType<typeof searchOrder>;
}

function judged<S, I, O>(
  histories: ReadonlyMap<string, readonly Operation<I, O>[]>,
  model: Model<S, I, O>,
  what: string,
): Judged[] {
  return [...histories].map(([name, history]) => ({
    name: `${what} ${name}`,
    history,
    order: searchOrder(model, history, MAX_STEPS),
  }));
}
