import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { needsCare, type DoctorFinding } from '../jobs.js';
import type { Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withJson, type JsonFlags } from './orders.js';

type Flags = StoreFlags & JsonFlags;

const ABOUT =
  'Checks stores, pods and crons, and shows what is wrong and what to do: unsafe settings of Redis and ' +
  'PostgreSQL, clock skew, mixed versions, crons without a worker, waiting runs, short ' +
  'leases. Fails (1) for a bad finding or a warning.';

export function doctorCommand({ world, answer }: Setting): Command {
  const command = new Command('doctor').summary('what is wrong, and what to do').description(ABOUT);
  return withJson(withStoreOptions(command)).action(async (flags: Flags) => {
    answer(reportOf(await withStore(flags, world, ({ doctor }) => doctor.examine())), flags);
  });
}

function reportOf(findings: readonly DoctorFinding[]): Report {
  return {
    code: needsCare(findings) ? EXIT.finding : EXIT.ok,
    json: findings,
    text: (width) => findings.flatMap((finding) => lines(finding, width)),
  };
}

function lines({ level, code, subject, text, todo }: DoctorFinding, width: number): string[] {
  return [
    ...hanging(`${level.toUpperCase().padEnd(4)} ${code}  ${subject}`, width, 5),
    ...indented(text, width),
    ...(todo === null ? [] : indented(`To do: ${todo}`, width)),
    '',
  ];
}

function indented(text: string, width: number): string[] {
  return hanging(text, width - 5, 0).map((line) => `     ${line}`);
}
