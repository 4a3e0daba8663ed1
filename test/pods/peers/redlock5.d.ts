/** The package has types, but its list of entries doesn't name them. */
declare module 'redlock5' {
  interface AbortedSignal extends AbortSignal {
    readonly error?: Error;
  }
  export default class Redlock {
    constructor(clients: Iterable<object>, settings: { retryCount: number; automaticExtensionThreshold: number });
    on(event: 'error', listener: (error: Error) => void): this;
    using<T>(
      resources: readonly string[],
      durationMs: number,
      routine: (signal: AbortedSignal) => Promise<T>,
    ): Promise<T>;
  }
}
