import { StoreAwayError } from '../base/errors.js';

/** The gRPC status codes that are distinguished here: https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
/** An unexpected reply: a retry would not help. */
export const UNKNOWN = 2;
export const NOT_FOUND = 5;
export const FAILED_PRECONDITION = 9;
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** etcd could not be asked, or it refused. */
export class EtcdError extends StoreAwayError {
  readonly code = 'ETCD';

  /** @param status gRPC's code for what etcd answered; none where no answer came */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Whether another member, or the same one later, may succeed: no reply, or no leader at the moment. */
export function isPassing(error: unknown): error is EtcdError {
  if (!(error instanceof EtcdError)) return false;
  return error.status === undefined || error.status === UNAVAILABLE || error.status === DEADLINE_EXCEEDED;
}

/** A token runs out after minutes, is forgotten by a member that restarts, and is void when the users have changed. */
export function isStaleToken(error: unknown): boolean {
  if (!(error instanceof EtcdError)) return false;
  return error.status === UNAUTHENTICATED || error.message.includes('revision of auth');
}
