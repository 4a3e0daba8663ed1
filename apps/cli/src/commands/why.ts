import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { presentWhyReport, type WhyReport, type WhyStep } from '../jobs.js';
import { shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { withJson, type JsonFlags } from './orders.js';

type Flags = StoreFlags & JsonFlags;

const ABOUT =
  'Explains why a cron ran at a time, or did not: schedule and clock changes, definition, pause, overlap, misfire, lease, ' +
  'attempts, refusals, effects. For a future time it says whether the cron will run. Exits with 1 for an instant missed ' +
  'without a recorded reason.';

const TIME = 'an instant with its offset, a local time of its zone such as "2026-03-29 02:30", "now", or "last"';

export function whyCommand({ world, answer }: Setting): Command {
  const command = new Command('why')
    .summary('why a cron ran at a time, or did not')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .argument('<time>', TIME);
  return withJson(withStoreOptions(command)).action(async (cron: string, time: string, flags: Flags) => {
    const report = await withStore(flags, world, ({ why }) => why.why(cron, time));
    answer(reportOf(report), flags);
  });
}

const SIGNS: Readonly<Record<WhyStep['level'], string>> = { ok: ' ', note: '-', warn: '!', bad: '!!' };

function reportOf(report: WhyReport): Report {
  const { verdict, answer, steps, cron, at } = report;
  return {
    code: verdict === 'missed' ? EXIT.finding : EXIT.ok,
    json: presentWhyReport(report),
    text: (width) => [
      ...hanging(`${cron} at ${shortIso(at)}: ${answer}`, width),
      '',
      ...table(
        steps.map(({ topic, level, text }) => [SIGNS[level], topic, text]),
        width,
      ),
    ],
  };
}
