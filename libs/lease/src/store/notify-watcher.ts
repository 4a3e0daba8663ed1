/**
 * Calls a watcher of releases or of a loss. An error it throws becomes a process warning: it affects neither the release,
 * nor the other watchers, nor the connection, nor the process.
 */
export function notifyWatcher<T>(watch: (event: T) => void, event: T): void {
  try {
    watch(event);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
