import { Body, Controller, Inject, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { CronCatalog, type CronSettings } from '@fencepost/operations';
import { CronDirectory, settingsOf } from '@fencepost/operations/internal';
import { CommandService } from './command-service.js';
import { changeBy, cronChangeSchema, type CronChange } from './cron-change.js';
import { Conflicts, Orders } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import * as runInputs from './run-inputs.js';

type SetOrder = Checked<typeof runInputs.cronSetOrder>;

/** Makes and changes crons. */
@ApiTags('crons')
@Controller('api/crons/:cron')
export class CronDefinitionController {
  @Inject(CronCatalog) private readonly crons!: CronCatalog;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Put()
  @Conflicts('CATALOG_MOVED')
  @Orders('admin', cronChangeSchema, 'Creates a cron, or changes it; a dry run validates, and says what would change.')
  async set(
    @Param({ schema: inputs.cronParams }) { cron }: Checked<typeof inputs.cronParams>,
    @Body({ schema: runInputs.cronSetOrder }) order: SetOrder,
  ): Promise<CronChange> {
    const before = await this.crons.get(cron);
    const settings = settingsBy(order, before);
    const change = changeBy(this.crons.check(cron, settings), before, await this.directory.now());
    if (order.dryRun) return { ...change, dryRun: true };
    const entry = await this.#set(cron, settings, { order, before });
    return { ...change, dryRun: false, generation: entry.generation };
  }

  #set(
    cron: string,
    settings: CronSettings,
    given: { readonly order: SetOrder; readonly before: CatalogEntry | null },
  ) {
    const { order, before } = given;
    const seen = before?.state === 'removed' ? null : (before?.generation ?? null);
    // What was kept of the old definition is of this generation, and of no other.
    const expected = order.expected === undefined && !order.keepOthers ? {} : { expected: order.expected ?? seen };
    const { reason } = order;
    const about = { action: 'set', cron, reason, before: shown(before), after: shown };
    return this.service
      .execute(about, (by) => this.crons.set(cron, settings, { by, reason, ...expected }))
      .finally(() => this.directory.forget());
  }
}

/** `null` stands for the default, as in a merge patch. The options are checked as a whole by the catalog. */
function settingsBy({ settings, keepOthers }: SetOrder, before: CatalogEntry | null): CronSettings {
  const kept =
    keepOthers && before && before.state !== 'removed' ? withoutOtherSchedule(settingsOf(before), settings) : {};
  return Object.fromEntries(Object.entries({ ...kept, ...settings }).filter(([, value]) => value !== null));
}

/** An expression takes the place of an interval, and the other way round. */
function withoutOtherSchedule(kept: CronSettings, given: Readonly<Record<string, unknown>>): CronSettings {
  const { every, expression, timeZone, dst, ...others } = kept;
  if (typeof given['every'] === 'string') return others;
  const schedule = { expression, timeZone, dst, ...(given['expression'] === undefined && { every }) };
  return { ...others, ...Object.fromEntries(Object.entries(schedule).filter(([, value]) => value !== undefined)) };
}

function shown(entry: CatalogEntry | null): object | null {
  if (entry === null) return null;
  const { generation, state, definition } = entry;
  return { generation, state, definition };
}
