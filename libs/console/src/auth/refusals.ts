import { HttpException } from '@nestjs/common';

/** What the access boundary says to whoever does not come in: `{ statusCode, code, message }`. */
export class Refusal extends HttpException {
  constructor(statusCode: number, code: string, message: string) {
    super({ statusCode, code, message }, statusCode);
  }
}

export const unknownCaller = () =>
  new Refusal(
    401,
    'UNAUTHENTICATED',
    'Expected a token that is known here, as "Authorization: Bearer <token>" or by a session. Sign in at /crons.',
  );

export const notAllowed = (role: string, needed: string) =>
  new Refusal(
    403,
    'FORBIDDEN',
    `Expected the role ${needed}, you are ${role}. Ask somebody who may, or for another token.`,
  );

export const otherOrigin = () =>
  new Refusal(
    403,
    'CROSS_ORIGIN',
    'Expected a page of this server to ask for that, another one did. Nothing was done.',
  );

export const foreignHost = () =>
  new Refusal(
    403,
    'FOREIGN_HOST',
    'Expected a Host header such as localhost, as there are no tokens: set FENCEPOST_TOKENS to be reached by another name.',
  );

export const notJson = () =>
  new Refusal(415, 'NOT_JSON', 'Expected a body of the content type application/json. Nothing was done.');
