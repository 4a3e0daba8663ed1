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
  older: 'left as it is',
  conflict: 'CONFLICT',
};

/** Fails for a build that would define nothing, or not start: a deploy of it does something else than its author thinks. */
export function planReport(plan: Plan, { from, to }: { readonly from: number; readonly to: number }): Report {
  const { source, buildSeq, lastSeq, standing, changes, same } = plan;
  const names = (change: Change) => changes.filter((each) => each.change === change).map(({ cron }) => cron);
  const [notDefined, conflicts] = [names('older'), names('conflict')];
  const ok = notDefined.length === 0 && conflicts.length === 0;
  const kinds = {
    new: names('new'),
    changed: names('changed'),
    removed: names('removed'),
    notDefined,
    conflicts,
    same,
  };
  return {
    code: ok ? EXIT.ok : EXIT.finding,
    json: {
      ...{ ok, source, buildSeq, lastSeq, standing, from: iso(from), to: iso(to) },
      ...kinds,
      crons: changes.map(cronJson),
    },
    text: (width) => [
      ...table(changes.flatMap(rows), width),
      ...hanging(`${ending(plan)} Looked at ${shortIso(from)} to ${shortIso(to)}.`, width),
    ],
  };
}

function cronJson({ cron, change, parts, instants: { gone, added } }: CronChange): object {
  return { cron, change, parts, gone: onlyJson(gone), added: onlyJson(added) };
}

function onlyJson({ count, first }: Only): object {
  return { count, first: first.map((at) => iso(at)) };
}

function rows({ cron, change, parts, instants: { gone, added } }: CronChange): string[][] {
  const what = parts.length === 0 ? '' : `differs in ${parts.join(', ')}`;
  return [[WORDS[change], cron, what], ...only('fires no more', gone), ...only('fires then', added)];
}

function only(word: string, { count, first }: Only): string[][] {
  if (count === 0) return [];
  const shown = first.slice(0, SHORT).map(shortIso).join(' ');
  return [['', word, `${count}: ${shown}${count > SHORT ? ' …' : ''}`]];
}

function ending({ source, buildSeq, lastSeq, standing, changes, same }: Plan): string {
  const which = buildSeq === null ? `The next build of ${source}` : `Build ${buildSeq} of ${source}`;
  if (standing === 'older') {
    return `${which} is older than ${lastSeq}: its processes run crons but define none. Raise buildSeq (FENCEPOST_BUILD_SEQ) to make it define them.`;
  }
  const conflicts = changes.filter(({ change }) => change === 'conflict').length;
  if (conflicts > 0)
    return `${which} has the buildSeq of the live build but different declarations: it would refuse to start. Raise buildSeq.`;
  return `${which}: ${changes.length} of ${changes.length + same} crons change.`;
}
