import { get } from 'node:http';

const PATIENCE_MS = 1_000;

/** Whether the pod on this port of loopback says that it can do its work. Never rejects. */
export function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/health/ready', agent: false, timeout: PATIENCE_MS });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.on('close', () => resolve(false));
  });
}
