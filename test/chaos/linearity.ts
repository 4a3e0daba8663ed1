import { searchOrder, type Model, type Operation } from '../support/linearizability.js';
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

/** A run began with its job, and the worker never heard of it: at any time from then on, or never. */
const unheardBegin = (calledAt: number): RunOperation => ({
  input: { op: 'begin', request: { nonce: NOBODY } },
  output: undefined,
  calledAt,
  returnedAt: Infinity,
});

/**
 * Holds each object's recorded history against its model: every cron's cursor, and every run with its effects. A history that
 * spans a failover is judged like any other, as one object from its first call to its last: where the ledger is, nothing
 * counts that a failover can lose. With PostgreSQL it is not in what fails over, and with Redis each answer has waited for
 * all replicas (`waitReplicas`), also one that only tells what somebody else has written. Whoever writes without that, and be
 * it the person who answers, is found here: the object forgets what it has said.
 */
export function checkLinearity({ claims, runs, unheard }: Histories): LinearityReport {
  const named = new Map([...runs].map(([name, history]) => [name, withoutNames(history)]));
  const all = [
    ...judged(claims, CLAIM_MODEL, 'the claims of'),
    ...judged(named, RUN_MODEL, 'the run').map((run) => withUnheard(run, unheard)),
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

/** Each of those calls may have begun any run, once. Few are needed, and the search takes longer with each. */
function withUnheard(run: Judged, unheard: readonly number[]): Judged {
  if (run.order !== 'none' || unheard.length === 0) return run;
  const begins = unheard.toSorted((a, b) => a - b).map(unheardBegin);
  const history = [...begins, ...(run.history as readonly RunOperation[])];
  return { ...run, order: searchOrder(RUN_MODEL, history, MAX_STEPS) };
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
