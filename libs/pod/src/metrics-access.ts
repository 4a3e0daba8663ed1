import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { SetupError } from '@fencepost/lease';
import { mayAs, parseTokens, roleOf, type Token } from '@fencepost/operations/access-tokens';

export interface MetricsAccessOptions {
  /** Where the pod listens. */
  readonly host: string;
  readonly tokens?: string | undefined;
  readonly tokensFile?: string | undefined;
  /** Whoever reaches the pod may read its metrics. */
  readonly open?: boolean | undefined;
  /** The pod knows people by something else than tokens. */
  readonly isForOthers?: boolean | undefined;
}

/** A name that can only mean this machine: one that merely resolves to it may be an attacker's (DNS rebinding). */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Who may read the metrics of a pod that has no door of its own: names of crons, and how their runs went, are in there. */
export class MetricsAccess {
  readonly #tokens: readonly Token[];
  readonly #open: boolean;
  readonly #local: boolean;

  /** @throws {SetupError} for tokens that can't be read */
  constructor({ host, tokens, tokensFile, open = false, isForOthers = false }: MetricsAccessOptions) {
    this.#tokens = parseTokens(tokensFile === undefined ? (tokens ?? '') : textOf(tokensFile));
    this.#open = open;
    // With tokens the pod is meant for others, and who is at the machine has one too.
    this.#local = this.#tokens.length === 0 && isLoopback(host) && !isForOthers;
  }

  admits({ authorization = '', host = '' }: Pick<IncomingHttpHeaders, 'authorization' | 'host'>): boolean {
    if (this.#open) return true;
    if (this.#local) return isLoopback(host.replace(/:\d+$/, ''));
    const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
    const known = secret === undefined ? null : roleOf(this.#tokens, secret);
    return known !== null && mayAs(known.role, 'viewer');
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SetupError(`Cannot read the token file FENCEPOST_TOKENS_FILE ${file}.`, {
      cause,
    });
  }
}
