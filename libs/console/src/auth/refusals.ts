import { HttpException } from '@nestjs/common';

/** What the access boundary says to whoever does not come in. */
export class Refusal extends HttpException {
  constructor(status: number, code: string, message: string) {
    super({ code, message }, status);
  }
}

export const unknownCaller = () =>
  new Refusal(
    401,
    'UNAUTHENTICATED',
    'Unknown or missing token. Send "Authorization: Bearer <token>", or sign in on the page.',
  );

export const notAllowed = (role: string, needed: string) =>
  new Refusal(403, 'FORBIDDEN', `This needs the role ${needed}, and you are ${role}. Ask an admin for another token.`);

export const otherOrigin = () => new Refusal(403, 'CROSS_ORIGIN', 'Cross-site request refused. Nothing was done.');

export const foreignHost = () =>
  new Refusal(
    403,
    'FOREIGN_HOST',
    'Expected a request from this machine with a Host header such as localhost, as there are no access tokens: set some to be reached otherwise.',
  );

export const notJson = (type: string) =>
  new Refusal(415, 'NOT_JSON', `Expected a body of the content type ${type}. Nothing was done.`);
