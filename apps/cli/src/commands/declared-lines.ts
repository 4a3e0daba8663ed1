import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';

type Detail = Answers['CronDetail'];
type Generation = Detail['generations'][number];

/** Who declares a cron, since when, why, and which live pods agree: rows of a table. */
export function declaredLines(cron: Detail): string[][] {
  const { app, revision, generations, declarations } = cron;
  const newest = generations.at(-1);
  const why = newest === undefined ? '' : `; in force by ${byOf(newest)}, since ${shortIso(newest.since)}`;
  const own = app === null ? 'created at run time' : `by ${app}, ${revisionText(revision)}`;
  return [['declared', `${own}${why}`], ...liveLines(cron, declarations), ...undeclaredLines(declarations)];
}

/** Who made a generation, and their reason. */
export function byOf({ by, reason }: Pick<Generation, 'by' | 'reason'>): string {
  return reason === null ? by : `${by}: ${reason}`;
}

function revisionText(revision: number | null): string {
  return revision === null ? 'a former release' : `revision ${revision}`;
}

const DECLARES = {
  same: 'declares it so',
  differently: 'declares it differently',
  not: 'does not declare it',
  unknown: 'unknown whether it declares it',
} as const;

function liveLines({ app }: Pick<Detail, 'app'>, declarations: Detail['declarations']): string[][] {
  if (declarations === null) return [['live', 'unknown: the pods could not be read']];
  const { revisions } = declarations;
  if (revisions.length === 0) return app === null ? [] : [['live', `no pod of ${app} that declares crons`]];
  const lines = revisions.map(({ app: of, revision, pods, declares }) => {
    const which = of === app ? `revision ${revision}` : `${of}, revision ${revision},`;
    return `${which} (${pods} ${pods === 1 ? 'pod' : 'pods'}) ${DECLARES[declares]}`;
  });
  return [['live', lines.join(' · ')]];
}

function undeclaredLines(declarations: Detail['declarations']): string[][] {
  if (!declarations?.undeclared) return [];
  const { since, removedAt } = declarations.undeclared;
  const from = since === null ? '' : ` since ${shortIso(since)}`;
  const until =
    removedAt === null ? 'removed once that has lasted for removeAfter' : `removed at about ${shortIso(removedAt)}`;
  return [['undeclared', `no live pod declares it${from}; ${until}, unless one does`]];
}
