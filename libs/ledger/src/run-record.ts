export { CRON_NAME, cronOfRun, hasLateness, occurrenceId } from './base/occurrence.js';
export { TRANSITIONS, isTerminal, nextState } from './base/run-state.js';
export type { RunEvent, RunState } from './base/run-state.js';
export { MAX_RESULT_BYTES } from './base/run.js';
export type {
  Answer,
  UnknownReason,
  EffectRecord,
  MissedRange,
  OverlapPolicy,
  Pause,
  UnresolvedEffect,
  Run,
  RunReason,
  SkipRange,
  SkipReason,
  WaitReason,
} from './base/run.js';
export { MAX_QUEUE_LENGTH } from './base/run.js';
