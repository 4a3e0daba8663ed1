import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Overview } from '../../data/types.js';
import { setStoreClock } from '../../time/now.js';

/** The deployment in a row of numbers; each leads to where more is said. */
export function Totals({ of }: { readonly of: Overview }) {
  const { crons, uncertain, failed, queue, pods, now } = of;
  useEffect(() => setStoreClock(now), [now]);
  const workers = pods.filter(({ roles }) => roles.includes('worker')).length;
  const schedulers = pods.filter(({ roles }) => roles.includes('scheduler')).length;
  return (
    <>
      {schedulers > 0 && workers === 0 ? <NoWorker /> : null}
      <ul class="totals" aria-label="The deployment at a glance">
        <Total value={crons.total} name="crons" note={cronsNote(crons)} />
        <Total
          value={uncertain}
          name="uncertain"
          note={<Todo count={uncertain} text="need an operator" none="none uncertain" />}
          alarm
        />
        <Total
          value={failed}
          name="failed"
          note={<Todo count={failed} text="can be retried" none="nothing to retry" />}
          alarm
        />
        <Total value={queue['active'] ?? 0} name="running" note={`${queue['waiting'] ?? 0} waiting in the queue`} />
        <Total value={pods.length} name="pods" note={<Link href="/leases">{podsNote(schedulers, workers)}</Link>} />
      </ul>
    </>
  );
}

interface TotalProps {
  readonly value: number;
  readonly name: string;
  readonly note: ComponentChildren;
  /** Any at all is worth a look. */
  readonly alarm?: boolean;
}

function Total({ value, name, note, alarm }: TotalProps) {
  return (
    <li class={alarm && value > 0 ? 'total alarm' : 'total'}>
      <span class="figure">{value.toLocaleString('en')}</span> {name}
      <small class="quiet under">{note}</small>
    </li>
  );
}

interface TodoProps {
  readonly count: number;
  readonly text: string;
  readonly none: string;
}

function Todo({ count, text, none }: TodoProps) {
  return count === 0 ? <>{none}</> : <Link href="/attention">{text}</Link>;
}

function NoWorker() {
  return (
    <p class="notice warn">
      <strong>No worker is live.</strong> Runs are claimed and wait. Start one with <code>apps/worker</code>.
    </p>
  );
}

function cronsNote({ active, paused, disabled, removed }: Overview['crons']): string {
  const others = Object.entries({ paused, disabled, removed }).filter(([, count]) => count > 0);
  return [`${active} active`, ...others.map(([name, count]) => `${count} ${name}`)].join(', ');
}

function podsNote(schedulers: number, workers: number): string {
  return `${schedulers} scheduler${schedulers === 1 ? '' : 's'}, ${workers} worker${workers === 1 ? '' : 's'}`;
}
