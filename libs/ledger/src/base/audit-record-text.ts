import { scrub } from '@fencepost/lease/internal';
import type { AuditQuery, AuditRecord, NewAuditRecord } from './audit-trail.js';
import { MAX_LISTED_RECORDS } from './audit-trail.js';
import { OperatorInputError } from './ledger-request.js';

/** Of `before` and of `after`, as JSON: a record says what changed, and is no copy of it. */
const MAX_STATE_LENGTH = 8_192;
const MAX_WORD_LENGTH = 1_000;
const ID = /^\d{1,16}-\d{1,16}$/;

/** As it is kept: without what is named like a secret, and each part of bounded length. */
export function keptRecord(record: NewAuditRecord): NewAuditRecord {
  const { by, role, action, cron, runId, before, after, reason, from } = record;
  return {
    ...{ by: cut(by), role: cut(role), action: cut(action), from: cut(from) },
    ...{ cron: cron && cut(cron), runId: runId && cut(runId), reason: reason && cut(reason) },
    ...{ before: keptState(before), after: keptState(after) },
  };
}

function keptState(state: unknown): unknown {
  const json = JSON.stringify(scrub(state ?? null)) as string | undefined;
  if (json === undefined) return null;
  return json.length <= MAX_STATE_LENGTH ? JSON.parse(json) : { tooLong: json.length, begins: json.slice(0, 200) };
}

function cut(text: string): string {
  return text.slice(0, MAX_WORD_LENGTH);
}

export function recordOf(id: string, kept: NewAuditRecord): AuditRecord {
  return { ...kept, id, at: Number.parseInt(id, 10) };
}

/** @throws {OperatorInputError} */
export function checkedQuery(query: AuditQuery): AuditQuery {
  const { limit, before } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_RECORDS) {
    throw OperatorInputError.of('limit', `a whole number from 1 to ${MAX_LISTED_RECORDS}`, limit);
  }
  if (before !== undefined && !ID.test(before)) throw OperatorInputError.of('before', 'the id of a record', before);
  return query;
}

/** A run is its cron's too. */
export function isAbout({ cron, runId }: NewAuditRecord, asked: string | undefined): boolean {
  if (asked === undefined || cron === asked) return true;
  return runId !== null && runId.startsWith(`${asked}@`);
}
