import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { logFailures } from '../telemetry/log-failures.js';
import { Telemetry } from '../telemetry/telemetry.js';

/** Failures go to the logger of the app, unless it logs all events itself. */
@Injectable()
export class FailureLog implements OnModuleInit {
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(CLOCK) private readonly clock!: Clock;

  onModuleInit(): void {
    logFailures(this.telemetry, new Logger('Fencepost'), this.clock);
  }
}
