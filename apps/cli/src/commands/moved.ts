import { EXIT } from '../exit.js';
import { CatalogMovedError } from '../jobs.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';

/** Somebody was faster. An answer and no bad usage: what was asked for was right when it was typed. */
export function movedReport(cron: string, error: unknown): Report {
  if (!(error instanceof CatalogMovedError)) throw error;
  const { expected, found, message } = error;
  return {
    code: EXIT.finding,
    json: { cron, verdict: 'moved', expected, found },
    text: (width) => hanging(message, width),
  };
}
