import { expect, test } from 'vitest'
import { cloudInit, loopbackBackend, withZone } from './command'

const base = 'sinemora-agent run --backend https://sinemora.example --token sme_1'

test('zone fields become flags, empty ones do not', () => {
  expect(withZone(base, { provider: 'aws', region: ' eu-west-1 ', name: 'eu-west-1a' })).toBe(
    `${base} --zone-provider aws --zone-region eu-west-1 --zone-name eu-west-1a`,
  )
  expect(withZone(base, { provider: '', region: ' ', name: '' })).toBe(base)
})

test.each([
  ['http://127.0.0.1:8420', true],
  ['http://127.1.2.3', true],
  ['http://localhost:8420', true],
  ['http://[::1]:8420', true],
  ['https://sinemora.example', false],
  ['http://10.0.0.1:8420', false],
  ['https://127.0.0.1.example', false],
])('only its own machine reaches a backend at %s: %s', (address, isLoopback) => {
  expect(loopbackBackend(`sinemora-agent run --backend ${address} --token t`)).toBe(isLoopback ? address : null)
})

test('user data runs the same line as root', () => {
  const line = `curl -fsSL https://x.example/packages/install.sh | sudo sh -s -- --token sme_1 --zone-name 'rack 7'`
  expect(cloudInit(line)).toBe(
    `#cloud-config\nwrite_files:\n  - path: /etc/sinemora/agent.env\n    permissions: '0600'\n    content: SINEMORA_AGENT_TOKEN=sme_1\nruncmd:\n  - 'curl --retry 20 --retry-delay 15 --retry-all-errors -fsSL https://x.example/packages/install.sh | sh -s -- --zone-name ''rack 7'''`,
  )
})
