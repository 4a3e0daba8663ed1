import { Body, Controller, Inject, Param, Put } from '@nestjs/common';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { CronCatalog } from '@fencepost/operations';
import { CronDirectory } from '@fencepost/operations/internal';
import { CommandService } from './command-service.js';
import { changeBy, cronChangeSchema, type CronChange } from './cron-change.js';
import { Conflicts, Orders, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import * as runInputs from './run-inputs.js';

type SetOrder = Checked<typeof runInputs.cronSetOrder>;

/** Makes and changes crons. */
@Tagged('crons')
@Controller('api/crons/:cron')
export class CronDefinitionController {
  @Inject(CronCatalog) private readonly crons!: CronCatalog;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Put()
  @Conflicts('CATALOG_MOVED')
  @Orders(
    'admin',
    cronChangeSchema,
    'Creates a cron, or changes the options that are named; a dry run validates, and says what would change.',
  )
  async set(
    @Param({ schema: inputs.cronParams }) { cron }: Checked<typeof inputs.cronParams>,
    @Body({ schema: runInputs.cronSetOrder }) order: SetOrder,
  ): Promise<CronChange> {
    const { before, declaration } = await this.crons.preview(cron, order.settings);
    const change = changeBy(declaration, before, await this.directory.now());
    if (order.dryRun) return { ...change, dryRun: true };
    const entry = await this.#set(cron, order, before);
    return { ...change, dryRun: false, generation: entry.generation };
  }

  /** Changes only the generation that the preview was computed from. */
  #set(cron: string, { settings, reason, expected }: SetOrder, before: CatalogEntry | null) {
    const seen = before?.state === 'removed' ? null : (before?.generation ?? null);
    const about = { action: 'set', cron, reason, before: shown(before), after: shown };
    const given = { reason, expected: expected === undefined ? seen : expected };
    return this.service
      .execute(about, (by) => this.crons.set(cron, settings, { by, ...given }))
      .finally(() => this.directory.forget());
  }
}

function shown(entry: CatalogEntry | null): object | null {
  if (entry === null) return null;
  const { generation, state, definition } = entry;
  return { generation, state, definition };
}
