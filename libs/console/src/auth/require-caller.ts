import type { Middleware } from '../http/web-request.js';
import { currentCaller } from './caller.js';
import { unknownCaller } from './refusals.js';

/** For what is no controller and has no guard: goes on only for somebody whom the access boundary has let in. */
export const requireCaller: Middleware = (_request, _response, next) =>
  currentCaller() ? next() : next(unknownCaller());
