import type { Run } from '@fencepost/jobs';
import type { Archive } from './archive.js';
import type { Happening } from './happening.js';
import { podOf, type Sight } from './sight.js';
import { runName, span } from './words.js';

/** A pod that lost its process, or its time, from one moment to the next. */
export interface Blow {
  /** Name of the pod. */
  readonly pod: string;
  /** "killed scheduler-2" */
  readonly what: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

interface Open {
  readonly happening: Happening;
  /** Per cron the holder that was hit. */
  readonly crons: Map<string, string>;
  /** The runs it was carrying out, by id. */
  readonly runs: Map<string, Run>;
  readonly followed: string[];
}

interface Followed {
  /** For each blow with news its sentence, longer than before. */
  readonly told: readonly Happening[];
  /** The crons whose new holder these sentences name. */
  readonly explained: ReadonlySet<string>;
}

/** What nobody has taken over by then was given back in an orderly way, or its pod woke up in time. */
const GIVE_UP_MS = 30_000;

/** Follows a blow until others have taken over what the pod had: who, and after how long. */
export class Aftermath {
  #open: Open[] = [];
  #blows = 0;

  /** @param sight the last look at the stores before the blow */
  begin({ pod, what, at }: Blow, sight: Sight, archive: Archive): Happening {
    const crons = heldBy(pod, sight);
    const runs = runningOn(pod, sight, archive);
    const had = [
      ...(crons.size > 0 ? [`held ${[...crons.keys()].join(', ')}`] : []),
      ...(runs.length > 0 ? [`ran ${runs.map((run) => runName(run.cron, run.scheduledAt)).join(', ')}`] : []),
    ];
    const text = had.length > 0 ? `${what} (${had.join('; ')})` : what;
    const happening: Happening = { id: `blow-${++this.#blows}`, at, kind: 'chaos', text };
    this.#open.push({ happening, crons, runs: new Map(runs.map((run) => [run.id, run])), followed: [] });
    return happening;
  }

  /** Whether a pod has anything that others would have to take over. */
  static hasWork(pod: string, sight: Sight, archive: Archive): boolean {
    return heldBy(pod, sight).size > 0 || runningOn(pod, sight, archive).length > 0;
  }

  follow(sight: Sight, archive: Archive): Followed {
    const explained = new Set<string>();
    const told = this.#open.flatMap((open) => {
      const found = [...successors(open, sight, explained), ...retakers(open, archive)];
      open.followed.push(...found);
      if (found.length === 0) return [];
      return [{ ...open.happening, at: sight.at, text: `${open.happening.text} → ${open.followed.join('; ')}` }];
    });
    this.#open = this.#open.filter(
      ({ happening, crons, runs }) => sight.at - happening.at < GIVE_UP_MS && crons.size + runs.size > 0,
    );
    return { told, explained };
  }
}

function heldBy(pod: string, sight: Sight): Map<string, string> {
  const held = sight.crons.flatMap(({ name, holding }) =>
    holding !== null && podOf(holding.holder) === pod ? [[name, holding.holder] as const] : [],
  );
  return new Map(held);
}

function runningOn(pod: string, sight: Sight, archive: Archive): Run[] {
  const open = sight.crons.flatMap(({ name }) => archive.openRuns(name));
  return open.filter(({ state, worker }) => state === 'running' && podOf(worker ?? '') === pod);
}

function successors({ happening, crons }: Open, sight: Sight, explained: Set<string>): string[] {
  const taken = new Map<string, string[]>();
  for (const { name, holding } of sight.crons) {
    const before = crons.get(name);
    if (before === undefined || holding === null || holding.holder === before) continue;
    crons.delete(name);
    explained.add(name);
    const who = successor(before, holding.holder);
    taken.set(who, [...(taken.get(who) ?? []), name]);
  }
  const after = span(sight.at - happening.at);
  return [...taken].map(([who, names]) => `${who} took ${names.join(', ')} over after ${after}`);
}

function retakers({ happening, runs }: Open, archive: Archive): string[] {
  return [...runs.values()].flatMap((before) => {
    const run = archive.run(before.cron, before.id) ?? before;
    const same = run.attempt === before.attempt;
    if (same && run.state !== 'succeeded' && run.state !== 'failed') return [];
    runs.delete(before.id);
    if (same || run.attemptedAt === null) return [];
    const after = span(Math.max(0, run.attemptedAt - happening.at));
    const who = successor(before.worker ?? '', run.worker ?? '');
    return [`${who} began attempt ${run.attempt} of ${runName(run.cron, run.scheduledAt)} after ${after}`];
  });
}

/** A pod that is started again has its old name and is another one all the same. */
function successor(before: string, now: string): string {
  const name = podOf(now);
  return name === podOf(before) && now !== before ? `the new ${name}` : name;
}
