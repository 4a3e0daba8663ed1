import { useEffect, useState } from 'preact/hooks';
import type { Query } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { Watch } from '../../data/types.js';
import { WORDS } from '../../words.js';

const { watch: words } = WORDS.leases;

/** A lease that was cleared. */
export interface Watching {
  readonly name: string;
  readonly query: Query<Watch>;
}

const WATCH_MS = 30_000;
const EVERY_MS = 2_000;

type Observation = Watch['observations'][number];

/** Looks for a while at what becomes of a lease that was cleared, and says all that was seen. */
export function LeaseWatch({ watching: { name, query } }: { readonly watching: Watching }) {
  const [isOver, setOver] = useState(false);
  const [seen, setSeen] = useState<ReadonlyMap<string, Observation>>(new Map());
  const [last, setLast] = useState<Watch | null>(null);
  const { data, error } = useResource(isOver ? null : query, { everyMs: EVERY_MS });
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), WATCH_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (data === null) return;
    setLast(data);
    setSeen((old) => new Map([...old, ...data.observations.map((one) => [one.text, one] as const)]));
  }, [data]);
  const observations = [...seen.values()];
  return (
    <div class={`notice ${toneOf(observations)}`} role="status">
      <p>
        <strong>{isOver ? words.over(name) : words.goesOn(name)}</strong>{' '}
        {error === null ? sentenceOf(observations, last) : words.failed}
      </p>
      {observations.length === 0 ? null : (
        <ul>
          {observations.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function toneOf(observations: readonly Observation[]): string {
  if (observations.some(({ level }) => level === 'bad')) return 'bad';
  return observations.some(({ level }) => level === 'warn') ? 'warn' : '';
}

function sentenceOf(observations: readonly Observation[], last: Watch | null): string {
  const tone = toneOf(observations);
  if (tone === 'bad') return words.duplicate;
  if (tone === 'warn') return words.look;
  if (last === null) return words.nothing;
  const now = last.holder === null ? words.noHolder : words.held(last.holder, last.fence);
  return `${words.noDuplicate} ${now}`;
}
