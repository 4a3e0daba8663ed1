import { Controller, Get, Inject } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { Doctor, type DoctorFinding } from '@fencepost/operations';
import { CronDirectory } from '@fencepost/operations/internal';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { Shows } from './describe-route.js';

/** An examination asks about every cron: it is repeated no sooner than this, and takes at most a twentieth of the time. */
const FRESH_MS = 10_000;
const AT_MOST_A = 20;
/** What is older than this is not shown while a new examination goes on. */
const MAX_AGE_MS = 5 * 60_000;

interface Examined {
  readonly findings: readonly DoctorFinding[];
  readonly at: number;
  readonly freshUntil: number;
}

/** What needs a person now. */
@ApiTags('deployment')
@Controller('api')
export class TriageController {
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(Doctor) private readonly doctor!: Doctor;
  @Inject(CLOCK) private readonly clock!: Clock;
  #known: Examined | null = null;
  #examining: Promise<Examined> | null = null;

  @Get('triage')
  @Shows(SCHEMAS.Triage, 'What needs a person now, the worst first.')
  async triage() {
    return this.directory.triage(await this.#findings());
  }

  /** For all that ask one examination; those who come while it goes on get what the one before has found. */
  async #findings(): Promise<readonly DoctorFinding[]> {
    const known = this.#known;
    const now = this.clock.monotonic();
    if (known && now < known.freshUntil) return known.findings;
    this.#examining ??= this.#examine(now).finally(() => (this.#examining = null));
    if (!known || now - known.at > MAX_AGE_MS) return (await this.#examining).findings;
    // It fails for whoever asks next, if the store is still away then.
    this.#examining.catch(() => {});
    return known.findings;
  }

  async #examine(at: number): Promise<Examined> {
    const findings = await this.doctor.examine();
    const now = this.clock.monotonic();
    return (this.#known = { findings, at: now, freshUntil: now + Math.max(FRESH_MS, AT_MOST_A * (now - at)) });
  }
}
