/** @typedef {{ text: string, idempotencyKey: string, fence: number }} Mail */

/**
 * What is wrong with the mails of all replicas together: each instant is to have sent exactly one, and each under a larger fence than
 * the one before.
 * @param {readonly Mail[]} mails
 * @param {number} everyMs between two instants
 * @returns {string[]} a sentence for each thing that is wrong
 */
export function objectionsTo(mails, everyMs) {
  const sorted = mails.toSorted((a, b) => instantOf(a) - instantOf(b));
  return sorted.slice(1).flatMap((mail, at) => {
    const before = sorted[at];
    const gap = instantOf(mail) - instantOf(before);
    return [
      ...(gap === 0 ? [`${mail.text} was sent twice.`] : []),
      ...(gap > everyMs ? [`Nothing was sent between "${before.text}" and "${mail.text}".`] : []),
      ...(mail.fence > before.fence ? [] : [`${mail.text} has the fence ${mail.fence}, after ${before.fence}.`]),
    ];
  });
}

/** @param {Mail} mail @returns {number} the instant that it reports of */
export function instantOf({ text }) {
  return Date.parse(text.replace('Report of ', ''));
}
