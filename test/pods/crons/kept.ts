import { Injectable } from '@nestjs/common';
import { SingletonCron } from '@fencepost/jobs';

/** Each leap day: never while anybody looks, so that what happens to them happens to their definitions alone. */
const IDLE = '0 0 0 29 2 *';

/** Idle crons for whoever changes, removes and pauses crons at run time and looks whether that lasts. */
@Injectable()
export class Kept {
  @SingletonCron(IDLE, { name: 'kept-changed' })
  changed(): void {}

  @SingletonCron(IDLE, { name: 'kept-removed' })
  removed(): void {}

  @SingletonCron(IDLE, { name: 'kept-paused' })
  paused(): void {}
}
