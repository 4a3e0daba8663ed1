import { Command } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import type { Report } from '../report.js';
import { table } from '../table.js';
import type { Setting } from '../world.js';
import { byOf, declaredLines } from './declared-lines.js';
import { duration, RUN_HEAD, runRow } from './run-lines.js';
import { type OutputFlags, withOutput } from '../output.js';

type Flags = DeploymentFlags & OutputFlags;

const ABOUT = 'Shows one cron: definition, schedule, holder, changes and latest runs.';
const LATEST = 5;

export function showCommand({ world, answer }: Setting): Command {
  const command = new Command('show').summary('one cron in detail').description(ABOUT);
  return withOutput(withDeploymentOptions(command.argument('<cron>', 'its name'))).action(
    async (cron: string, flags: Flags) => {
      answer(await withDeployment(flags, world, (deployment) => show(deployment, cron)), flags);
    },
  );
}

async function show(deployment: Deployment, cron: string): Promise<Report> {
  const [detail, runs] = await Promise.all([deployment.cron(cron), deployment.runs(cron, { limit: LATEST })]);
  return {
    code: EXIT.ok,
    json: detail,
    text: (width) => [
      ...table([...factsOf(detail), ...keysOf(detail)], width),
      '',
      ...historyOf(detail, width),
      ...latest(runs, width),
    ],
  };
}

function factsOf(cron: Answers['CronDetail']): string[][] {
  const { name, state, generation, since, next, paused, misfire, overlap, dst, handler, payload } = cron;
  const options = [
    ...[`misfire ${misfire}`, `overlap ${overlap}, ${cron.maxConcurrency} at once`, `grace ${duration(cron.graceMs)}`],
    ...[`dst ${dst.gap}/${dst.repeat}`, `spread ${duration(cron.spreadMs)}`],
  ];
  const { holder, fence, leaseLeftMs } = cron;
  const held = holder && `${holder}, fence ${fence}, ${duration(leaseLeftMs ?? 0)} left`;
  return [
    ['cron', name],
    ...saidOf(cron),
    ['schedule', `${cron.expression} (${cron.scheduleText})`],
    ['health', cron.health.text],
    ['state', `${state}, generation ${generation} since ${since}`],
    ['next', next ?? '-'],
    ...(paused
      ? [['paused', `until ${paused.until ?? 'somebody resumes it'}, by ${paused.by}: ${paused.reason}`]]
      : []),
    ['holder', held ?? 'nobody'],
    ['options', options.join(' · ')],
    ...(cron.tags.length === 0 ? [] : [['tags', cron.tags.join(', ')]]),
    ...(handler === null ? [] : [['handler', handler]]),
    ...(payload === null ? [] : [['payload', JSON.stringify(payload)]]),
    ...declaredLines(cron),
    ...(cron.uncertain === 0 ? [] : [['uncertain', `${cron.uncertain} of its runs wait for an operator`]]),
  ];
}

function saidOf({ description, owner, runbookUrl }: Answers['CronDetail']): string[][] {
  const said = { description, owner, runbook: runbookUrl };
  return Object.entries(said).flatMap(([what, text]) => (text === null ? [] : [[what, text]]));
}

/** Each stays for its keyTtl, so their number is what a job is asked for in that time. */
function keysOf({ keys }: Answers['CronDetail']): string[][] {
  return keys === 0 ? [] : [['keys', `${keys} idempotency keys are remembered`]];
}

function historyOf({ generations }: Answers['CronDetail'], width: number): string[] {
  const rows = generations.map((one) => {
    const { generation, state, since, expression, timeZone } = one;
    return [`${generation}`, since, state, `${expression} ${timeZone}`, byOf(one)];
  });
  return [...table([['GENERATION', 'SINCE', 'STATE', 'SCHEDULE', 'BY'], ...rows], width), ''];
}

function latest(runs: readonly Answers['Run'][], width: number): string[] {
  return runs.length === 0 ? ['It has no runs.'] : table([RUN_HEAD, ...runs.map(runRow)], width);
}
