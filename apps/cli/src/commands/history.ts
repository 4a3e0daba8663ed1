import { Command } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { shortIso, type Report } from '../report.js';
import { table } from '../table.js';
import type { Setting } from '../world.js';
import { byOf, declaredLines } from './declared-lines.js';
import { type OutputFlags, withOutput } from '../output.js';

type Flags = DeploymentFlags & OutputFlags;

type Generation = Answers['CronDetail']['generations'][number];

const ABOUT =
  'Shows each definition that a cron had: from when on, by which revision of which app or which person, why, and what changed. ' +
  'Says which live pods declare it now.';

export function historyCommand({ world, answer }: Setting): Command {
  const command = new Command('history').summary('the definitions of a cron').description(ABOUT);
  return withOutput(withDeploymentOptions(command.argument('<cron>', 'its name'))).action(
    async (cron: string, flags: Flags) => {
      answer(await withDeployment(flags, world, (deployment) => history(deployment, cron)), flags);
    },
  );
}

async function history(deployment: Deployment, cron: string): Promise<Report> {
  const detail = await deployment.cron(cron);
  const { name, app, revision, declarations, generations } = detail;
  return {
    code: EXIT.ok,
    json: { name, app, revision, declarations, generations },
    text: (width) => [
      ...table(declaredLines(detail), width),
      '',
      ...table([HEAD, ...generations.toReversed().flatMap(rows)], width),
    ],
  };
}

const HEAD = ['GENERATION', 'SINCE (UTC)', 'STATE', 'WHAT'];

function rows(one: Generation): string[][] {
  const { generation, since, state, expression, timeZone, changes } = one;
  const changed = changes.map(({ part, was, is }) => {
    // An address is not shown: it may be as good as a password.
    return part === 'ping' ? 'ping changed' : `${part}: ${shown(was)} -> ${shown(is)}`;
  });
  const what = changed.length === 0 ? [`${expression} ${timeZone}`] : changed;
  return [[`${generation}`, shortIso(since), state, `by ${byOf(one)}`], ...what.map((line) => ['', '', '', line])];
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'not set';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
