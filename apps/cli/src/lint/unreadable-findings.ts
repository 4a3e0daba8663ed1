import { parseSchedule, ScheduleError } from '../jobs.js';
import { scheduleText, type LintFinding, type LintedCron } from './finding.js';

/** A program with another parser or time zone database may have declared what this one can't read: nobody here knows when it fires. */
export function unreadableFindings(cron: LintedCron, now: number): LintFinding[] {
  try {
    parseSchedule(scheduleText(cron), now);
    return [];
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    const text = `"${cron.name}" (${cron.expression}, ${cron.timeZone}) can't be read: expected ${error.part} to be ${error.expected}.`;
    return [{ rule: 'unreadable', level: 'undeclared', crons: [cron.name], text }];
  }
}
