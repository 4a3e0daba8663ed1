import type { IncomingMessage, ServerResponse } from 'node:http';
import { PROBLEM_JSON, problemDetails } from '@fencepost/lease/http';
import type { Next } from './web-request.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** What Express and Fastify's middleware have said of a request by then, each in its own way; inside it is found out anew. */
const SAID_BEFORE = ['query', 'ip', 'ips', 'hostname', 'protocol'];

/** Where an address is below the mount point, with its query; `null`: it is not below it. */
function pathBelow(mount: string, url: string): string | null {
  if (!url.startsWith(mount)) return null;
  const rest = url.slice(mount.length);
  return rest === '' || /^[/?]/.test(rest) ? rest : null;
}

/**
 * Hands every request below the mount point to the handler, which takes the mount point for the root; all others go on untouched.
 * @param inside what answers; `null` while nobody does
 */
export function mounted(mount: string, inside: () => Handler | null) {
  return (request: IncomingMessage, response: ServerResponse, next: Next): void => {
    const path = pathBelow(mount, request.url ?? '/');
    if (path === null) return next();
    const handler = inside();
    if (!handler) return away(response);
    if (!path.startsWith('/')) return redirect(response, `${mount.slice(mount.lastIndexOf('/') + 1)}/${path}`);
    for (const name of SAID_BEFORE) Reflect.deleteProperty(request, name);
    Object.assign(request, { url: path, originalUrl: path, baseUrl: '' });
    handler(request, response);
  };
}

/** Relative: proxies in front may have a prefix of their own. */
function redirect(response: ServerResponse, location: string): void {
  response.writeHead(308, { location: `./${location}` }).end();
}

function away(response: ServerResponse): void {
  const detail = 'The console is not available: this process is starting or stopping.';
  const body = problemDetails('AWAY', { status: 503, title: 'Console not available', detail });
  response.writeHead(503, { 'content-type': PROBLEM_JSON, connection: 'close' }).end(JSON.stringify(body));
}
