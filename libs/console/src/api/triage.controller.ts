import { Controller, Get, Inject } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { Doctor, type DoctorFinding } from '@fencepost/operations';
import { CronDirectory } from '@fencepost/operations/internal';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { CostlyLook } from './costly-look.js';
import { Shows, Tagged } from './describe-route.js';

/** An examination asks about every cron; who asks does not wait for the next one. */
const TIMES = { freshMs: 10_000, slowMs: 0 };

/** What needs a person now. */
@Tagged('deployment')
@Controller('api')
export class TriageController {
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(Doctor) private readonly doctor!: Doctor;
  @Inject(CLOCK) private readonly clock!: Clock;
  #findings: CostlyLook<readonly DoctorFinding[]> | null = null;

  @Get('triage')
  @Shows(SCHEMAS.Triage, 'What needs a person now, the worst first.')
  async triage() {
    this.#findings ??= new CostlyLook(() => this.doctor.examine(), this.clock, TIMES);
    const { found, at } = await this.#findings.recent();
    const ageMs = this.clock.monotonic() - at;
    return this.directory.triage(found, (await this.directory.now()) - ageMs);
  }
}
