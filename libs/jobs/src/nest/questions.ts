import type { Provider } from '@nestjs/common';
import { Forecasts } from '../operating/forecast.js';
import { Timelines } from '../operating/timelines.js';
import { ExplainService } from '../operating/explain-service.js';
import type { Reads } from './reads.js';
import { READS } from './tokens.js';

/** What people ask about crons. They read, and change nothing. */
export const questions = {
  providers: [
    { provide: Timelines, inject: [READS], useFactory: (reads: Reads) => new Timelines(reads) },
    { provide: ExplainService, inject: [READS], useFactory: (reads: Reads) => new ExplainService(reads) },
    { provide: Forecasts, inject: [READS], useFactory: (reads: Reads) => new Forecasts(reads) },
  ] satisfies Provider[],
  exports: [Timelines, ExplainService, Forecasts],
};
