import { EXIT } from '../exit.js';
import type { Only } from '../jobs.js';
import { iso, shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Change, CronChange, Plan } from './plan.js';

/** How many instants a person is shown of each; a program gets more. */
const SHORT = 5;

const WORDS: Readonly<Record<Change, string>> = {
  new: 'new',
  changed: 'changed',
  removed: 'removed',
  foreign: "ANOTHER APP'S",
};

/** Fails for a deploy that declares a cron of another app: it does something else than its author thinks. */
export function planReport(plan: Plan, { from, to }: { readonly from: number; readonly to: number }): Report {
  const { app, changes, same } = plan;
  const names = (change: Change) => changes.filter((each) => each.change === change).map(({ cron }) => cron);
  const foreign = names('foreign');
  const ok = foreign.length === 0;
  return {
    code: ok ? EXIT.ok : EXIT.finding,
    json: {
      ok,
      app,
      from: iso(from),
      to: iso(to),
      new: names('new'),
      changed: names('changed'),
      removed: names('removed'),
      foreign,
      same,
      crons: changes.map(cronJson),
    },
    text: (width) => [
      ...table(changes.flatMap(rows), width),
      ...hanging(`${ending(plan)} Looked at ${shortIso(from)} to ${shortIso(to)}.`, width),
    ],
  };
}

function cronJson({ cron, change, owner, parts, instants: { gone, added } }: CronChange): object {
  return { cron, change, owner, parts, gone: onlyJson(gone), added: onlyJson(added) };
}

function onlyJson({ count, first }: Only): object {
  return { count, first: first.map((at) => iso(at)) };
}

function rows({ cron, change, owner, parts, instants: { gone, added } }: CronChange): string[][] {
  const differs = parts.length === 0 ? '' : `differs in ${parts.join(', ')}`;
  const what = owner === null ? differs : `belongs to ${owner}`;
  return [[WORDS[change], cron, what], ...only('fires no more', gone), ...only('fires then', added)];
}

function only(word: string, { count, first }: Only): string[][] {
  if (count === 0) return [];
  const shown = first.slice(0, SHORT).map(shortIso).join(' ');
  return [['', word, `${count}: ${shown}${count > SHORT ? ' …' : ''}`]];
}

const REMOVED = 'What it leaves out is removed once no live pod has declared it for removeAfter (5 min unless set).';

const FOREIGN =
  'It does not define the crons of another app: rename them, or stop the pods of that app that declare them.';

function ending({ app, changes, same }: Plan): string {
  const [removed, foreign] = (['removed', 'foreign'] as const).map((of) => changes.some(({ change }) => change === of));
  const counts = `A deploy of ${app}: ${changes.length} of ${changes.length + same} crons change.`;
  return [counts, removed ? REMOVED : '', foreign ? FOREIGN : ''].filter((sentence) => sentence !== '').join(' ');
}
