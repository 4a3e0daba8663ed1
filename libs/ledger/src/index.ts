export type {
  Account,
  CancelReply,
  ClaimReply,
  ClaimRequest,
  ClaimedOccurrence,
  CronRecord,
  Delivery,
  OperatorOrder,
  UnresolvedEffectRef,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
  OverdueRuns,
} from './base/accepting.js';
export type {
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  EffectRequest,
  FinishEffectReply,
  ItemOutcome,
  ItemRecord,
  ItemsStep,
  UnknownEffect,
} from './base/attempting.js';
export { LATE_TRIGGER_MS, OperatorInputError } from './base/ledger-request.js';
export { LEDGER_BATCH } from './base/ledger-timing.js';
export type { LedgerTiming } from './base/ledger-timing.js';
export type { AttemptLog, Ledger, OccurrenceLog, OperatorLog, RunHistory, RunWithEffects } from './base/ledger.js';
export type { Notification } from './base/run.js';
export { MAX_NOTIFICATIONS } from './base/run.js';
export {
  TransactionLostError,
  TransactionMisusedError,
  TransactionUnknownError,
  isTransactional,
} from './base/transactional-ledger.js';
export type { TransactionReply, TransactionRequest, TransactionalLedger } from './base/transactional-ledger.js';
