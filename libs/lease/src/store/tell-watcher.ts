/**
 * Calls a watcher of releases. What it throws is its own bug: a warning says so, and neither the release, nor the other
 * watchers, nor the connection that brought the announcement, nor the process suffers from it.
 */
export function tellWatcher(onReleased: (resource: string) => void, resource: string): void {
  try {
    onReleased(resource);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
