/**
 * Calls a watcher of releases, or of a loss. What it throws is its own bug: a warning says so, and neither the release, nor the other
 * watchers, nor the connection that brought the announcement, nor the process suffers from it.
 */
export function tellWatcher<T>(tell: (news: T) => void, news: T): void {
  try {
    tell(news);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
