import { Body, Controller, Delete, Get, Inject, Post, Query } from '@nestjs/common';
import { CronDirectory, Mutes, ORDER_RECORDS } from '@fencepost/operations/internal';
import { presentMute, SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';
import { CommandService } from './command-service.js';
import { Orders, Shows, Tagged } from './describe-route.js';
import { muteTarget, reason, instant, type Checked } from './inputs.js';

type MuteTarget = Parameters<Mutes['end']>[0];
type Mute = Awaited<ReturnType<Mutes['set']>>;

const muteListSchema = z
  .strictObject({ items: z.array(SCHEMAS.Mute) })
  .describe('Mutes in force, the one that ends first at the front.');
const unmutedSchema = z
  .strictObject({ ended: SCHEMAS.Mute.nullable().describe('null: it was not muted.') })
  .describe('The mute that ended.');

const muteOrder = muteTarget({ reason, until: instant.describe('When the mute ends by itself.') });
const unmuteOrder = muteTarget({ reason });

/** Who is not to be woken by which crons, until when. Each order leaves an audit record. */
@Tagged('notifications')
@Controller('api/mutes')
export class MutesController {
  @Inject(Mutes) private readonly mutes!: Mutes;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Get()
  @Shows(muteListSchema, 'Crons and tags whose alarms are muted.')
  async list() {
    return { items: (await this.mutes.list()).map(presentMute) };
  }

  @Post()
  @Orders('operator', SCHEMAS.Mute, 'Mutes the alarms of a cron, or of the crons with a tag, until a time.')
  async mute(@Body({ schema: muteOrder }) { reason: why, until, ...on }: Checked<typeof muteOrder>) {
    const target = await this.#targetOf(on);
    const order = { ...ORDER_RECORDS.mute(target), reason: why, before: await this.#found(target) };
    return presentMute(await this.service.execute(order, (by) => this.mutes.set(target, { by, reason: why, until })));
  }

  @Delete()
  @Orders('operator', unmutedSchema, 'Ends a mute.')
  async unmute(@Query({ schema: unmuteOrder }) { reason: why, ...on }: Checked<typeof unmuteOrder>) {
    const target = targetOf(on);
    const order = { ...ORDER_RECORDS.unmute(target), reason: why, before: await this.#found(target) };
    const ended = await this.service.execute(order, () => this.mutes.end(target));
    return { ended: ended && presentMute(ended) };
  }

  /** @throws where the cron does not exist: a wrong name would leave the right one loud. */
  async #targetOf(on: { readonly cron?: string | undefined; readonly tag?: string | undefined }): Promise<MuteTarget> {
    const target = targetOf(on);
    if ('cron' in target) await this.directory.detail(target.cron);
    return target;
  }

  async #found(target: MuteTarget) {
    const found = (await this.mutes.list()).find((mute) => isOn(mute, target));
    return found ? presentMute(found) : null;
  }
}

function targetOf({ cron, tag = '' }: { readonly cron?: string | undefined; readonly tag?: string | undefined }) {
  return cron === undefined ? { tag } : { cron };
}

function isOn(mute: Mute, target: MuteTarget): boolean {
  return 'cron' in target ? mute.cron === target.cron : mute.tag === target.tag;
}
