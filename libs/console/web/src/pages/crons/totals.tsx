import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Overview } from '../../data/types.js';
import { setStoreClock } from '../../time/now.js';
import { WORDS } from '../../words.js';

const { home: words } = WORDS;

/** The deployment in a line of numbers; each leads to where more is said. */
export function Totals({ of }: { readonly of: Overview }) {
  const { crons, failed, failedComplete, queue, pods, unreported, now } = of;
  useEffect(() => setStoreClock(now), [now]);
  const workers = pods.filter(({ roles }) => roles.includes('worker')).length;
  const schedulers = pods.filter(({ roles }) => roles.includes('scheduler')).length;
  return (
    <>
      {crons.active > 0 && schedulers > 0 && workers === 0 && unreported?.length === 0 ? (
        <p class="notice warn">
          <strong>{words.noWorker}</strong> {words.noWorkerText}
        </p>
      ) : null}
      <ul class="totals" aria-label={words.totals}>
        <li>{words.cronCounts(crons)}</li>
        <li>{words.queued(queue['active'] ?? null, queue['waiting'] ?? null)}</li>
        <li>{failed === 0 ? words.noFailed : <Link href="/attention">{words.failed(failed, failedComplete)}</Link>}</li>
        <li>
          <Link href="/leases">{words.podCounts(schedulers, workers, unreported?.length)}</Link>
        </li>
      </ul>
    </>
  );
}
