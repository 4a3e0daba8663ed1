/**
 * `fetch` with something happening before the first request whose address or body holds `text` is sent: a delay at the
 * worst moment.
 */
export function fetchAfter(text: string, happening: () => Promise<unknown>): typeof fetch {
  let waiting = true;
  return async (input, init) => {
    const said = [input, init?.body].filter((part) => typeof part === 'string');
    if (waiting && said.some((part) => part.includes(text))) {
      waiting = false;
      await happening();
    }
    return fetch(input, init);
  };
}
