import type { ControllerHandlerReturnType, HTTPStatus } from '@bull-board/api/typings/app';
import { problemOf } from '../api/problem.js';

/** The statuses that the board knows. */
const KNOWN: readonly number[] = [400, 403, 404, 409];

/** What a person is told on the board: the same sentence as by the API. */
export function problemOnBoard(error: Error): ControllerHandlerReturnType {
  const { statusCode, message } = problemOf(error);
  const status = KNOWN.includes(statusCode) ? (statusCode as HTTPStatus) : 500;
  return { status, body: { error: message } };
}
