import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { SetupError } from '@fencepost/lease';
import { isLoopbackHost } from './loopback.js';

/** A console that asks nobody who they are serves this machine alone, so a server that listens to others is stopped. */
export function refuseExposure(server: Server): void {
  server.prependOnceListener('listening', () => {
    const address = server.address();
    if (address === null || typeof address === 'string' || isLoopbackHost(address.address)) return;
    const error = new SetupError(
      `ConsoleModule needs "auth" on the address ${address.address}: without access tokens anyone who reaches it would have ` +
        `full access. "fencepost token <name> --role viewer" prints one; listening on 127.0.0.1 needs none.`,
    );
    // Whoever waits for the server to listen is told; a test tool that listens by itself goes on, and the console refuses its requests.
    if (server.listenerCount('error') === 0) return new Logger('ConsoleModule').error(error.message);
    server.emit('error', error);
    // Later: whoever hears of it now may ask the server for its address.
    setImmediate(() => server.close());
  });
}
