/** A browser may forbid its storage: then nothing is remembered, and everything else works. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`fencepost.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`fencepost.${key}`, value);
  } catch {
    return;
  }
}
