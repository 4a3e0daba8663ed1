import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { Command } from 'commander';
import { isColourful } from '../colour.js';
import type { Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { LiveScreen } from '../live-screen.js';
import { positiveDuration } from '../option-values.js';
import { isJson, withOutput, type OutputFlags } from '../output.js';
import { iso } from '../report.js';
import type { Setting, World } from '../world.js';
import { frameOf, linesOf, totalsOf, type Seen } from './top-frame.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly interval: number;
}

/** More than a terminal has rows. */
const MAX_CRONS = 500;

const ABOUT =
  'Shows pods, totals and crons, those that need attention first, and keeps them up to date until q or Ctrl-C. Where the ' +
  'output is no terminal, or with -o, it prints them once.';

export function topCommand({ world, answer }: Setting): Command {
  const command = new Command('top')
    .summary('a live view of crons and pods, worst first')
    .description(ABOUT)
    .option('--interval <duration>', 'time between two looks', positiveDuration, 2_000);
  return withOutput(withDeploymentOptions(command)).action((flags: Flags) =>
    withDeployment(flags, world, async (deployment) => {
      const seen = await look(deployment, world);
      const { liveTerminal } = world;
      if (liveTerminal && !isJson(flags) && flags.output === undefined) {
        return live({ deployment, world, seen, everyMs: flags.interval });
      }
      const { crons, ...rest } = seen;
      const text = (width: number) => linesOf(seen, width);
      answer(
        { code: EXIT.ok, json: { ...rest, at: iso(seen.at), crons }, names: crons.map(({ name }) => name), text },
        flags,
      );
    }),
  );
}

async function look(deployment: Deployment, { now }: Pick<World, 'now'>): Promise<Seen> {
  const [{ counts, triage, ...found }, { items: pods, unreported }] = await Promise.all([
    deployment.attention(MAX_CRONS),
    deployment.pods(),
  ]);
  return { at: now(), ...found, pods, unreported, totals: totalsOf({ counts, triage }) };
}

interface Live {
  readonly deployment: Deployment;
  readonly world: World;
  readonly seen: Seen;
  readonly everyMs: number;
}

async function live({ deployment, world, seen: first, everyMs }: Live): Promise<void> {
  if (!world.liveTerminal) return;
  let seen: Seen = first;
  const quit = new AbortController();
  const ending = AbortSignal.any([quit.signal, world.interrupted()]);
  const isPlain = !isColourful(world);
  const draw = () => screen.draw(frameOf(seen, { ...screen.size, isPlain }));
  const screen = new LiveScreen(world.liveTerminal, { quit: () => quit.abort(), resized: () => draw() });
  try {
    while (!ending.aborted) {
      draw();
      await sleep(systemClock, everyMs, ending);
      // What was seen last stays, with since when nothing newer is known.
      const error = (reason: unknown) => ({
        ...seen,
        trouble: reason instanceof Error ? reason.message : String(reason),
      });
      if (!ending.aborted) seen = await look(deployment, world).catch(error);
    }
  } finally {
    screen.close();
  }
}
