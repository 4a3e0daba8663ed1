import type { Provider } from '@nestjs/common';
import { Outlook } from '../operating/outlook.js';
import { Timelines } from '../operating/timelines.js';
import { WhyDesk } from '../operating/why-desk.js';
import type { Reads } from './reads.js';
import { READS } from './tokens.js';

/** What people ask about crons. They read, and change nothing. */
export const questions = {
  providers: [
    { provide: Timelines, inject: [READS], useFactory: (reads: Reads) => new Timelines(reads) },
    { provide: WhyDesk, inject: [READS], useFactory: (reads: Reads) => new WhyDesk(reads) },
    { provide: Outlook, inject: [READS], useFactory: (reads: Reads) => new Outlook(reads) },
  ] satisfies Provider[],
  exports: [Timelines, WhyDesk, Outlook],
};
