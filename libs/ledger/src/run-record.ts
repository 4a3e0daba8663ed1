export { CRON_NAME, cronOfRun, hasLateness, occurrenceId } from './occurrence.js';
export { TRANSITIONS, isTerminal, nextState } from './run-state.js';
export type { RunEvent, RunState } from './run-state.js';
export type {
  Answer,
  UnknownReason,
  EffectRecord,
  MissedRange,
  OperatorAction,
  OverlapPolicy,
  Pause,
  UnresolvedEffect,
  Run,
  RunReason,
  SkipRange,
  SkipReason,
  WaitReason,
} from './run.js';
export { MAX_QUEUE_LENGTH } from './run.js';
