import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { RunReport } from '../../data/types.js';
import { msText } from '../../time/instants.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { differencesOf } from './payload-diff.js';

/** What is different from the last time that it went well. Nothing is asked for a run without a success before it. */
export function Compare({ report }: { readonly report: RunReport }) {
  const { previousSuccess } = report.neighbours;
  const before = useResource(previousSuccess === null ? null : questions.run(previousSuccess));
  const link = previousSuccess && <Link href={to.run(previousSuccess)}>{previousSuccess}</Link>;
  return (
    <Section title={WORDS.run.compare} aside={link}>
      {previousSuccess === null ? (
        <p class="quiet">{WORDS.run.noSuccess}</p>
      ) : (
        <Shown of={before} what={WORDS.run.what(previousSuccess)}>
          {(data) => (
            <Table
              caption={WORDS.run.compareCaption}
              columns={COLUMNS}
              rows={rowsOf(report, data)}
              keyOf={({ what }) => what}
            />
          )}
        </Shown>
      )}
    </Section>
  );
}

interface Row {
  readonly what: string;
  readonly is: string | null;
  readonly was: string | null;
  readonly difference: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: WORDS.run.whatIs, heads: true, cell: ({ what }) => what },
  { title: WORDS.run.thisRun, cell: ({ is }) => is },
  { title: WORDS.run.thatRun, cell: ({ was }) => was },
  { title: WORDS.run.difference, cell: ({ difference }) => difference },
];

function rowsOf(now: RunReport, before: RunReport): readonly Row[] {
  const {
    heads,
    run: { facts },
  } = WORDS;
  const names = [...new Set([...now.effects, ...before.effects].map(({ name }) => name))];
  const parts = differencesOf(now.run.payload, before.run.payload);
  return [
    timed(facts.delay, now.run.lateByMs, before.run.lateByMs),
    timed(heads.took, now.run.tookMs, before.run.tookMs),
    plain(heads.attempts, now.run.attempt, before.run.attempt),
    ...names.map((name) => timed(WORDS.run.effect(name), lasted(now, name), lasted(before, name))),
    plain(heads.generation, now.run.generation, before.run.generation),
    plain(heads.worker, now.run.worker, before.run.worker),
    ...(parts.length === 0 ? [{ what: facts.payload(''), is: null, was: null, difference: WORDS.run.same }] : []),
    ...parts.map(({ path, is, was }) => plain(facts.payload(path), json(is), json(was))),
  ];
}

function lasted({ effects }: RunReport, wanted: string): number | null {
  const effect = effects.find(({ name }) => name === wanted);
  return effect?.finishedAt ? Date.parse(effect.finishedAt) - Date.parse(effect.since) : null;
}

function timed(what: string, is: number | null, was: number | null): Row {
  const [a, b] = [is, was].map((ms) => (ms === null ? null : msText(ms)));
  const difference = is === null || was === null ? '' : `${is >= was ? '+' : '−'}${msText(Math.abs(is - was))}`;
  return { what, is: a ?? null, was: b ?? null, difference };
}

function plain(what: string, is: string | number | null, was: string | number | null): Row {
  const [a, b] = [is, was].map((value) => (value === null ? null : String(value)));
  return { what, is: a ?? null, was: b ?? null, difference: is === was ? WORDS.run.same : WORDS.run.differs };
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
