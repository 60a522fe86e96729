import { expect, test } from 'vitest'
import { recorded } from '~/testing/recorded'
import { bodyOf, RECEIVER_FIELDS, typedOf } from './receiverForm'

const HOOK = recorded('/v1/receivers', { kind: 'webhook', settings: { url: 'https://example.com/1' } }, 'post')

test('typed values go to the settings of the kind', () => {
  expect(bodyOf('email', { to: 'a@example.com, b@example.com' })).toEqual({
    settings: { to: ['a@example.com', 'b@example.com'], contract_report: false },
  })
  expect(bodyOf('email', { to: 'a@example.com', contract_report: 'on' }).settings).toMatchObject({
    contract_report: true,
  })
  expect(bodyOf('slack', { url: ' https://hooks.example/1 ' })).toEqual({
    settings: {},
    secret: { url: 'https://hooks.example/1' },
  })
})

test('a secret that is not typed again stays, and so do settings without a field', () => {
  expect(bodyOf('webhook', { url: 'https://example.com/2', key: '' }, HOOK.settings)).toEqual({
    settings: { url: 'https://example.com/2', accepted_moves: false },
  })
  expect(bodyOf('pagerduty', { routing_key: '' }, { url: 'https://events.example' })).toEqual({
    settings: { url: 'https://events.example' },
  })
})

test('settings are shown to be changed, secrets never', () => {
  const [url, key] = RECEIVER_FIELDS.webhook
  expect(url && typedOf(HOOK, url)).toBe('https://example.com/1')
  expect(key && typedOf(HOOK, key)).toBe('')
})
