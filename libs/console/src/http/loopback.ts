/** A name that can only mean this machine. One that merely resolves to it may be an attacker's (DNS rebinding). */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1';
}
