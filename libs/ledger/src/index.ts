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
} from './accepting.js';
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
} from './attempting.js';
export { LATE_TRIGGER_MS } from './ledger-request.js';
export { LEDGER_BATCH } from './ledger-timing.js';
export type { LedgerTiming } from './ledger-timing.js';
export type { AttemptLog, Ledger, OccurrenceLog, OperatorLog, RunHistory } from './ledger.js';
export type { Notification } from './notification.js';
export { MAX_NOTIFICATIONS } from './notification.js';
export { OperatorInputError } from './operator-input.js';
export type { OverdueRuns } from './overdue.js';
export { isTransactional } from './transactional-ledger.js';
export type { TransactionReply, TransactionRequest, TransactionalLedger } from './transactional-ledger.js';
