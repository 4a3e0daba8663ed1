import { Body, Controller, Delete, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { roleOf } from '@fencepost/operations/access-tokens';
import type { WebRequest, WebResponse } from '../http/web-request.js';
import { ACCESS, type Access } from '../auth/access.js';
import { SESSION_COOKIE } from '../auth/credentials.js';
import { unknownCaller } from '../auth/refusals.js';
import { youSchema } from './answers.js';
import { Answers, Describe, Tagged } from './describe-route.js';
import { sessionOrder, type Checked } from './inputs.js';
import { OverviewService } from './overview-service.js';

/** Signing in and out, for pages: a browser sends a cookie by itself, also for what a page can't give headers to. */
@Tagged('session')
@Controller()
export class SessionController {
  @Inject(ACCESS) private readonly access!: Access;
  @Inject(OverviewService) private readonly overviews!: OverviewService;

  @Get('api/me')
  @Answers(youSchema, 'Who asks.')
  me() {
    return this.overviews.you();
  }

  @Post('session')
  @HttpCode(200)
  @Describe({
    summary: 'Signs in with a token; the answer sets an HttpOnly cookie.',
    answer: { schema: youSchema, description: 'Who is signed in.' },
  })
  signIn(
    @Body({ schema: sessionOrder }) { token }: Checked<typeof sessionOrder>,
    @Req() request: WebRequest,
    @Res({ passthrough: true }) response: WebResponse,
  ) {
    const identity = roleOf(this.access.tokens, token);
    if (!identity) throw unknownCaller();
    response.append('Set-Cookie', sessionCookie(token, request));
    return { ...identity, signedIn: true };
  }

  @Delete('session')
  @HttpCode(204)
  @Describe({ summary: 'Signs out.', answer: { schema: null, description: 'Signed out.' } })
  signOut(@Req() request: WebRequest, @Res({ passthrough: true }) response: WebResponse): void {
    response.append('Set-Cookie', `${sessionCookie('', request)}; Expires=Thu, 01 Jan 1970 00:00:00 GMT`);
  }
}

/**
 * Sent to this server alone, by its own pages alone, and gone with the browser. Without a path the browser takes the folder of the
 * address that it asked: all of the console, whatever a proxy in front calls it, and nothing else of the application.
 */
function sessionCookie(value: string, { secure }: WebRequest): string {
  return `${SESSION_COOKIE}=${encodeURIComponent(value)}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}
