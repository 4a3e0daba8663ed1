import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { z } from 'zod';
import { CatalogFullError, type CatalogEntry } from '@fencepost/ledger/catalog';
import { CronCatalog } from '@fencepost/operations';
import { mayAs } from '@fencepost/operations/access-tokens';
import {
  CronDirectory,
  exportedCron,
  importLines,
  lineOf,
  READS,
  readCronLines,
  type ManyReport,
  type RecordPart,
  type Reads,
} from '@fencepost/operations/internal';
import { callerHere } from '../auth/caller.js';
import { CommandService } from './command-service.js';
import { importSchema } from './answers.js';
import { lineProblem } from './problem.js';
import { Conflicts, Describe, Orders, Tagged } from './describe-route.js';
import { Needs } from '../auth/fencepost-guard.js';
import { Refusal } from '../auth/refusals.js';
import { LINES, type WebRequest, type WebResponse } from '../http/web-request.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';

/** Kept in memory while they are validated: what is longer comes in parts. */
const LIMITS = { maxLines: 20_000, maxBytes: 32 * 1_048_576 };
/** Each may go on for minutes. */
const MAX_EXPORTS = 2;
/** Written at once. */
const PIECE = 16_384;

const YES_OR_NO = 'expected true or false';
const importQuery = z.strictObject({
  reason: inputs.reason,
  dryRun: z
    .enum(['true', 'false'], YES_OR_NO)
    .default('false')
    .transform((text) => text === 'true')
    .meta({ description: 'Validates, and says what would be changed.', wire: 'boolean' }),
});
const exportQuery = z.strictObject({ tag: inputs.forecastQuery.shape.tag });

/** Crons as lines: all of a tenant, in one request. */
@Tagged('crons')
@Controller('api/crons')
export class CronFilesController {
  #isImporting = false;
  #exports = 0;
  @Inject(CronCatalog) private readonly crons!: CronCatalog;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;
  @Inject(READS) private readonly reads!: Reads;

  @Post('import')
  @Conflicts('CATALOG_FULL')
  @Describe({ body: { type: LINES, description: 'A cron in each line: its name and its options.' } })
  @Orders(
    'admin',
    importSchema,
    `Creates and changes up to ${LIMITS.maxLines} crons; those that are as given stay. Refused as a whole if a line is invalid.`,
  )
  async import(
    @Req() request: WebRequest,
    @Res({ passthrough: true }) response: WebResponse,
    @Query({ schema: importQuery }) { reason, dryRun }: Checked<typeof importQuery>,
  ) {
    if (this.#isImporting) throw new Refusal(503, 'BUSY', 'Expected one import at a time on this pod. Retry later.');
    this.#isImporting = true;
    try {
      const lines = await readCronLines(request, LIMITS);
      return importAnswer(await this.#import(lines, { reason, dryRun, signal: leaving(response) }));
    } finally {
      this.#isImporting = false;
      this.directory.forget();
    }
  }

  @Get('export')
  @Needs('viewer')
  @Describe({
    summary:
      'Every cron that is not removed, in a line each, as an import takes it. Addresses of pings are shown to admins only.',
    answer: { type: LINES, description: 'A cron in each line.' },
  })
  async export(
    @Query({ schema: exportQuery }) query: Checked<typeof exportQuery>,
    @Res() response: WebResponse,
  ): Promise<void> {
    if (this.#exports >= MAX_EXPORTS) {
      throw new Refusal(503, 'BUSY', `Expected at most ${MAX_EXPORTS} exports at a time on this pod. Retry later.`);
    }
    this.#exports += 1;
    try {
      const { entries } = await this.reads.catalog.read();
      const isAdmin = mayAs(callerHere().role, 'admin');
      response.status(200).set({ 'Content-Type': LINES, 'Cache-Control': 'no-store' });
      if (response.req.method === 'HEAD') return void response.end();
      // A reader that is slow, or leaves, is no reason to go on.
      await pipeline(Readable.from(piecesOf(entries, query.tag, isAdmin)), response).catch(() => response.destroy());
    } finally {
      this.#exports -= 1;
    }
  }

  async #import(lines: Parameters<typeof importLines>[1], order: Omit<Parameters<typeof importLines>[2], 'by'>) {
    const { name: by } = callerHere();
    const { reason = null } = order;
    const record: RecordPart = (part, work) => this.service.execute({ reason, ...part }, work);
    const report = await importLines(this.crons, lines, { ...order, by, record });
    const { stopped, created, changed } = report;
    // Nothing was done, and that is all there is to say.
    if (stopped?.code === 'CATALOG_FULL' && created + changed === 0) {
      throw new CatalogFullError(stopped.count, stopped.limit);
    }
    return report;
  }
}

function* piecesOf(entries: readonly CatalogEntry[], tag: string | undefined, isAdmin: boolean) {
  let piece = '';
  for (const entry of entries) {
    const cron = exportedCron(entry, tag);
    if (!cron) continue;
    piece += `${lineOf(isAdmin ? cron : withoutAddresses(cron))}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

type Exported = NonNullable<ReturnType<typeof exportedCron>>;

/** An address of a ping is as good as a password. An import refuses what stands in its place, so that none is lost. */
function withoutAddresses(cron: Exported): Exported {
  if (!cron.ping) return cron;
  return { ...cron, ping: Object.fromEntries(Object.keys(cron.ping).map((event) => [event, 'shown to admins only'])) };
}

/** Aborts when nobody waits for the answer any more. */
function leaving(response: WebResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return left.signal;
}

function importAnswer({ problems, stopped, ...report }: ManyReport) {
  const why = stopped && { code: stopped.code, detail: stopped.detail };
  return { ...report, problems: problems.map(lineProblem), stopped: why };
}
