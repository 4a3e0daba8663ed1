import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { TTL_MS } from './settings.mjs';

const lua = (name) => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
const sha = (text) => createHash('sha1').update(text).digest('hex');

/** The least a Node process can do: commands written by hand to one socket, those of one turn of the loop in one write. */
export async function openRawSocket({ urls, prefix }) {
  const { send, close } = await openSocket(urls[0]);
  const [take, drop] = [lua('take-lease'), lua('drop-lease')];
  for (const text of [take, drop]) await send('SCRIPT', 'LOAD', text);
  const [takeSha, dropSha] = [sha(take), sha(drop)];
  return {
    async tryOnce(_who, resource) {
      const lease = `${prefix}:{${resource}}:lease`;
      const nonce = randomUUID();
      const fence = await send('EVALSHA', takeSha, '2', lease, `${prefix}:{${resource}}:fence`, nonce, `${TTL_MS}`);
      return fence === null ? null : { lease, nonce, fence };
    },
    release: ({ lease, nonce }) => send('EVALSHA', dropSha, '1', lease, nonce),
    close,
  };
}

async function openSocket(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const asked = [];
  let [outgoing, incoming] = ['', ''];
  const flush = () => {
    socket.write(outgoing, 'latin1');
    outgoing = '';
  };
  socket.setEncoding('latin1').on('data', (text) => {
    incoming = readReplies(incoming + text, (value) => asked.shift()(value));
  });
  const send = (...words) => {
    if (outgoing === '') process.nextTick(flush);
    outgoing += `*${words.length}\r\n`;
    for (const word of words) outgoing += `$${word.length}\r\n${word}\r\n`;
    return new Promise((resolve) => asked.push(resolve));
  };
  return { send, close: () => socket.destroy() };
}

/** Numbers and words only, which is all these scripts answer. @returns what is not complete yet */
function readReplies(text, tell) {
  let at = 0;
  for (let end = text.indexOf('\r\n', at); end >= 0; end = text.indexOf('\r\n', at)) {
    const value = text.slice(at + 1, end);
    if (text[at] === '-') throw new Error(value);
    const wordEnd = end + 2 + Number(value) + 2;
    const isWord = text[at] === '$' && value !== '-1';
    if (isWord && text.length < wordEnd) break;
    if (isWord) tell(text.slice(end + 2, wordEnd - 2));
    else tell(text[at] === '$' ? null : Number(value));
    at = isWord ? wordEnd : end + 2;
  }
  return text.slice(at);
}
