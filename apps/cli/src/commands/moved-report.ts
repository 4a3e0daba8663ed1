import type { Moved } from '../deployment/deployment.js';
import { EXIT } from '../exit.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';

/** Somebody was faster. An answer and no bad usage: what was asked for was right when it was typed. */
export function movedReport(cron: string, { expected, found, message }: Moved): Report {
  return {
    code: EXIT.finding,
    json: { cron, verdict: 'moved', expected, found },
    text: (width) => hanging(message, width),
  };
}
