import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isWebhookSecret, signatureHeaders } from './messages.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const message = { id: 'msg_1', at: Date.now(), body: '{"type":"alarm.raised","data":{"text":"ü"}}' };

describe('a signed message', () => {
  it('is taken by an implementation of Standard Webhooks that is not ours', () => {
    const headers = signatureHeaders(SECRET, message);
    expect(new Webhook(SECRET).verify(message.body, headers)).toEqual(JSON.parse(message.body));
  });

  it('with two secrets is taken by whoever knows one of them', () => {
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const headers = signatureHeaders([SECRET, other], message);
    for (const known of [SECRET, other])
      expect(new Webhook(known).verify(message.body, headers)).toEqual(JSON.parse(message.body));
    const third = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    expect(() => new Webhook(third).verify(message.body, headers)).toThrow('No matching signature found');
  });

  it.each([
    ['another body', { body: message.body.replace('raised', 'cleared') }, {}],
    ['another id', {}, { 'webhook-id': 'msg_2' }],
    ['another time', {}, { 'webhook-timestamp': String(Math.floor(message.at / 1_000) + 1) }],
  ])('is refused with %s', (_, { body = message.body }: { body?: string }, forged) => {
    const headers = { ...signatureHeaders(SECRET, message), ...forged };
    expect(() => new Webhook(SECRET).verify(body, headers)).toThrow('No matching signature found');
  });
});

describe('the secret of a webhook', () => {
  it.each([
    [SECRET, true],
    [`whsec_${Buffer.alloc(23).toString('base64')}`, false],
    [`whsec_${Buffer.alloc(24).toString('base64')}`, true],
    [`whsec_${Buffer.alloc(64).toString('base64')}`, true],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, false],
    [SECRET.slice(6), false],
    ['whsec_not base64!', false],
    [[SECRET, SECRET], true],
    [[SECRET, 'whsec_not base64!'], false],
    [[SECRET, SECRET, SECRET], false],
    [[], false],
  ])('%s has its form: %s', (secret, is) => {
    expect(isWebhookSecret(secret)).toBe(is);
  });
});
