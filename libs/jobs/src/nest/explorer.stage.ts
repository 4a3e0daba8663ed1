import type { ModuleMetadata, Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { CLOCK } from '@fencepost/lease/nest';
import { ManualClock } from '@fencepost/lease/testing';
import { CronExplorer, type FoundCron } from './cron-explorer.js';
import { JOBS_SETTINGS } from './tokens.js';

/** The crons and jobs of an application with these providers. */
export function explore(...providers: Provider[]): Promise<Map<string, FoundCron>> {
  return exploreIn({ providers });
}

/** The same for any application. */
export function exploreIn(metadata: ModuleMetadata): Promise<Map<string, FoundCron>> {
  return withExplorer(metadata, (explorer) => explorer.explore());
}

/** What `ask` gets of the explorer of such an application. */
export async function withExplorer<T>(metadata: ModuleMetadata, ask: (explorer: CronExplorer) => T): Promise<T> {
  const app = await Test.createTestingModule({
    ...metadata,
    imports: [DiscoveryModule, ...(metadata.imports ?? [])],
    providers: [
      CronExplorer,
      { provide: CLOCK, useValue: new ManualClock() },
      { provide: JOBS_SETTINGS, useValue: { minIntervalMs: 30_000 } },
      ...(metadata.providers ?? []),
    ],
  }).compile();
  try {
    return ask(app.get(CronExplorer));
  } finally {
    await app.close();
  }
}
