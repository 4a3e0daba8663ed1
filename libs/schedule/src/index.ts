export type { CronLiteral, ZoneLiteral } from './cron-literal.js';
export type { DstRule } from './fixed-steps.js';
export { MANUAL, isManual, parseSchedule, spreadOf } from './schedule.js';
export type { CronSchedule, Schedule, ScheduleText } from './schedule.js';
export { EVERY, isEvery, resolvedExpression } from './read-expression.js';
export { ScheduleError, ScheduleTextError } from './schedule-error.js';
export { zoneNamed, zoneOfOffset } from './zone.js';
