import type { Provider } from '@nestjs/common';
import type { LeaseStore } from '@fencepost/lease';
import type { Catalog } from '../catalog/catalog.js';
import type { Journal } from '../journal/journal.js';
import type { Ledger } from '../ledger/ledger.js';
import { Outlook } from '../operating/outlook.js';
import { Timelines } from '../operating/timelines.js';
import { WhyDesk } from '../operating/why-desk.js';
import { CATALOG, CRON_LEASE_STORE, JOURNAL, LEDGER } from './tokens.js';

/** What people ask about crons. They read, and change nothing. */
export const questions = {
  providers: [
    {
      provide: Timelines,
      inject: [CATALOG, LEDGER],
      useFactory: (catalog: Catalog, ledger: Ledger) => new Timelines({ catalog, ledger }),
    },
    {
      provide: WhyDesk,
      inject: [CATALOG, LEDGER, JOURNAL, CRON_LEASE_STORE],
      useFactory: (...[catalog, ledger, journal, leases]: [Catalog, Ledger, Journal, LeaseStore]) =>
        new WhyDesk({ catalog, ledger, journal, leases }),
    },
    { provide: Outlook, inject: [CATALOG], useFactory: (catalog: Catalog) => new Outlook({ catalog }) },
  ] satisfies Provider[],
  exports: [Timelines, WhyDesk, Outlook],
};
