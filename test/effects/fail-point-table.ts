import { format, resolveConfig } from 'prettier';
import { ANSWERS, MISHAPS, STEPS, type Case, type Verdict } from './fail-point-lab.js';

export const TABLE = new URL('../../docs/effects-fail-points.md', import.meta.url);

const HEADINGS: Readonly<Record<Case['answer'], string>> = {
  retry: "`'retry'`",
  ask: "`'ask'`",
  done: 'lookup always says done',
  'not-done': 'lookup always says not-done',
  unknown: 'lookup always says unknown',
  truth: 'lookup says the truth',
};

const MISHAP: Readonly<Record<Case['mishap'], string>> = {
  crash: 'killed',
  freeze: 'frozen',
  lose: 'message lost',
};

const INTRODUCTION = `# Fail points of an effect

One run with one effect and up to five attempts. Each row is one fault: where it strikes, and what it is. Each column is one
\`ifUnknown\` policy. The suite measures the table over every ledger: \`test/effects/fail-points.spec.ts\` fails when it is no longer
true, and rewrites it with \`UPDATE_TABLES=1\`.

A cell says how the run ends · how often the effect's function was called · how often the provider executed it, and in brackets how
often a provider does that honours the idempotency key. \`✓\` stands for _succeeded · 1 · 1 (1)_.

- **killed**: as by \`kill -9\`; the run lease expires and another worker takes over.
- **frozen**: the worker stands still until another one has taken over and finished, then continues.
- **message lost**: the request before a write, the reply after it. For the function: the connection to the provider breaks before or
  after the provider executed the request, and the function throws \`EffectUnknownError\`.
- **before and after \`fn\`**: the function was called, and the provider has not or has executed it.
`;

const RIGHT: Verdict = { state: 'succeeded', calls: 1, applied: 1, appliedByKey: 1 };

export type Verdicts = ReadonlyMap<string, Verdict>;

export function keyOf({ step, when, mishap, answer }: Case): string {
  return [when, step, mishap, answer].join(' ');
}

/** The page as it is checked in. */
export async function rendered(verdicts: Verdicts): Promise<string> {
  const rows = STEPS.flatMap((step) =>
    (['before', 'after'] as const).flatMap((when) => MISHAPS.map((mishap) => rowOf(verdicts, { step, when, mishap }))),
  );
  const heading = ['where', 'what', ...ANSWERS.map((answer) => HEADINGS[answer])];
  const table = [heading, heading.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return format(`${INTRODUCTION}\n${table}\n`, { ...(await resolveConfig(TABLE)), parser: 'markdown' });
}

function rowOf(verdicts: Verdicts, point: Omit<Case, 'answer'>): string[] {
  const cells = ANSWERS.map((answer) => cellOf(verdicts.get(keyOf({ ...point, answer }))));
  return [`${point.when} \`${point.step}\``, MISHAP[point.mishap], ...cells];
}

function cellOf(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '?';
  const { state, calls, applied, appliedByKey } = verdict;
  const said = `${state} · ${calls} · ${applied} (${appliedByKey})`;
  return JSON.stringify(verdict) === JSON.stringify({ ...RIGHT }) ? '✓' : said;
}
