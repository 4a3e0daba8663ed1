import { Link } from 'wouter-preact';
import { query } from '../data/paths.js';

/** The tags of a cron; each leads to the crons that have it. */
export function Tags({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.map((tag) => (
        <Link key={tag} class="tag" href={`/${query({ tag })}`}>
          {tag}
        </Link>
      ))}
    </>
  );
}
