import { Command } from 'commander';
import { toned } from '../colour.js';
import { refuseConsole } from '../deployment/console-address.js';
import { EXIT, UsageError } from '../exit.js';
import { audit, type AuditReport } from '../jobs.js';
import { instant } from '../option-values.js';
import { whileWorking } from '../progress.js';
import { iso, shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withCrons } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends StoreFlags, OutputFlags {
  readonly from?: number;
  readonly to?: number;
  readonly cron?: string[];
}

const ABOUT =
  'Checks that every instant of the schedules has a run or a recorded reason for not running. Fails (1) when ' +
  'one was missed, ran twice, or cannot be explained.';

export function auditCommand({ world, answer }: Setting): Command {
  const command = new Command('audit')
    .summary('compare the records with the schedules')
    .description(ABOUT)
    .option('--from <instant>', 'start of the range (default: as far back as records go)', instant)
    .option('--to <instant>', 'end of the range (default: just before now, or the last report of a pod)', instant)
    .option('--cron <name...>', 'only these');
  return withOutput(withStoreOptions(command)).action(async (flags: Flags) => {
    refuseConsole('audit', flags, world);
    const { from, to, cron } = flags;
    const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }), ...(cron && { crons: cron }) };
    const { found, tenant } = await withCrons(flags, world, async (store) => ({
      found: await whileWorking('Comparing the records with the schedules', world, () => audit(store, span)).catch(
        refused,
      ),
      tenant: store.tenant,
    }));
    answer(reportOf(found, tenant), flags);
  });
}

/** A name that isn't there, or a range that can't be. */
function refused(error: unknown): never {
  throw error instanceof RangeError ? new UsageError(error.message) : error;
}

function reportOf(found: AuditReport, tenant: string): Report {
  const { ok, from, to, findings, notCovered } = found;
  return {
    code: ok ? EXIT.ok : EXIT.finding,
    names: [...new Set(findings.map(({ cron }) => cron))],
    json: {
      ...{ ...found, from: iso(from), to: iso(to) },
      findings: findings.map((finding) => ({ ...finding, instant: iso(finding.instant) })),
      notCovered: notCovered.map((gap) => ({ ...gap, from: iso(gap.from), to: iso(gap.to) })),
    },
    text: (width) => [
      ...table(findingRows(found), width),
      ...hanging(`Tenant ${tenant}, ${shortIso(from)} to ${shortIso(to)}:`, width),
      ...table(sums(found), width),
      ending(found),
    ],
  };
}

function findingRows({ findings, notCovered }: AuditReport): string[][] {
  const gaps = notCovered.map(({ cron, text }) => [toned('not covered'), cron ?? 'all crons', text]);
  return [...findings.map(({ kind, cron, text }) => [toned(kind), cron, text]), ...gaps];
}

function sums({ crons, instants, ran, cancelled, skipped, waiting, ...wrong }: AuditReport): string[][] {
  const skips = Object.entries(skipped).filter(([, count]) => count > 0);
  const right = { crons, instants, ran, cancelled, waiting };
  const { missed, doubled, unexplained } = wrong;
  const counts = [
    ...Object.entries(right),
    ...skips.map(([reason, count]) => [`skipped: ${reason}`, count] as const),
    ...Object.entries({ missed, doubled, unexplained }),
  ];
  return counts.map(([word, count]) => ['', word, `${count}`]);
}

function ending({ ok, instants }: AuditReport): string {
  if (!ok) return 'NOT every instant is accounted for.';
  return instants === 0 ? 'There are no instants in this range.' : 'Every instant is accounted for.';
}
