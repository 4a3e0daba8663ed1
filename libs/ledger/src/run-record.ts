export { CRON_NAME, cronOfRun, occurrenceId } from './occurrence.js';
export { TRANSITIONS, isTerminal, nextState } from './run-state.js';
export type { RunEvent, RunState } from './run-state.js';
export type {
  Answer,
  Doubt,
  EffectRecord,
  MissedRange,
  OperatorAction,
  OverlapPolicy,
  Pause,
  Question,
  Run,
  RunReason,
  SkipRange,
  SkipReason,
  WaitReason,
} from './run.js';
export { LONGEST_QUEUE, hasLateness } from './run.js';
