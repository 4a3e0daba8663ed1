import { Link } from 'wouter-preact';
import { to } from '../data/paths.js';
import { WORDS } from '../words.js';

const MAX_NAMES = 3;

interface NamesProps {
  readonly names: readonly string[];
  /** Default {@link MAX_NAMES}. */
  readonly max?: number;
}

/** The first of some crons, and how many more there are. */
export function CronNames({ names, max = MAX_NAMES }: NamesProps) {
  return (
    <>
      {names.slice(0, max).map((name, index) => (
        <span key={name}>
          {index === 0 ? '' : ', '}
          <Link href={to.cron(name)}>{name}</Link>
        </span>
      ))}
      {names.length > max ? ` ${WORDS.list.andMore(names.length - max)}` : null}
    </>
  );
}
