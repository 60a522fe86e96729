/** Objects of every kind, so that no page of a recording is empty. */

import { createHash } from 'node:crypto'
import type { Page } from '@playwright/test'
import { expect, read, write } from '../support/journey'
import { policies, world } from '../support/simulation'

interface Vm {
  id: string
  name: string
  zone_name: string
}

const DAY_MS = 86_400_000
const at = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString()

export async function fillProduct(page: Page, mesh: { id: string; name: string }) {
  const post = (path: string, data: object) => ensure(page, path, data)
  const { vms } = await read<{ vms: Vm[] }>(page, `/v1/meshes/${mesh.id}/roster`)
  // A task is in the zone that is farthest from its server, and a VM of a nearer zone is free: there is a move to recommend.
  const [server, client, , far] = vms as [Vm, Vm, Vm, Vm]

  await post('/v1/receivers', { name: 'On-call', kind: 'email', settings: { to: ['on-call@sinemora.example'] } })
  await post('/v1/receivers', {
    name: 'Tickets',
    kind: 'webhook',
    settings: { url: 'https://tickets.sinemora.example/hook' },
    secret: { key: 'not a real key' },
  })
  await post('/v1/metric-exports', {
    name: 'Grafana Mimir',
    kind: 'remote_write',
    url: 'https://mimir.sinemora.example/api/v1/push',
    authentication: { scheme: 'bearer', token: 'not-a-real-token' },
    headers: { 'X-Scope-OrgID': 'network' },
  })
  await post('/v1/identity-provider/domains', { domain: 'sinemora.example' })
  await write(page, 'PUT', '/v1/identity-provider', {
    issuer: 'https://login.sinemora.example',
    client_id: 'network-monitoring',
    client_secret: 'not a real secret',
    roles: { 'noc-leads': 'admin', 'Network engineers': 'editor', '*': 'viewer' },
  })
  await write(page, 'PUT', '/v1/alert-routes', {
    root: {
      receivers: ['Tickets'],
      routes: [
        {
          matchers: [{ label: 'severity', value: 'critical' }],
          receivers: ['On-call'],
          repeat_s: 3_600,
          resolved: true,
        },
      ],
    },
  })
  const silence = { comment: 'Switch replacement', matchers: [{ label: 'zone', value: 'c' }], ends_at: at(7 * DAY_MS) }
  await post('/v1/silences', silence)
  await post('/v1/silences', {
    ...silence,
    comment: 'Weekly maintenance',
    weekly: { weekday: 5, minute: 120, lasts_min: 90 },
  })
  const bucket = { rate_mbit: 750, burst_kb: 3_000_000 }
  await write(page, 'PUT', `/v1/vms/${server.id}/token-bucket`, bucket)
  await post('/v1/annotations', {
    kind: 'deploy',
    text: 'checkout 4.2',
    starts_at: at(-90_000),
    mesh_id: mesh.id,
    scope: { vm_ids: [server.id] },
    source: 'CI',
    url: 'https://ci.example.com/4711',
  })
  const maintenance = { kind: 'maintenance', text: 'Disks of zone c', starts_at: at(-60_000), ends_at: at(DAY_MS) }
  await post('/v1/annotations', { ...maintenance, mesh_id: mesh.id, source: 'kim@sinemora.example' })
  // Loopback is never this fast: an incident opens with the first windows.
  await post('/v1/alert-rules', {
    mesh_id: mesh.id,
    name: 'Delay above 1 ns',
    severity: 'critical',
    condition: { kind: 'threshold', metric: 'round_trip', statistic: 'p50', above: 1 },
    scope: { vms: [server.name] },
    windows_x: 1,
    windows_y: 1,
  })
  await post('/v1/api-keys', { name: 'Dashboards', scopes: ['read'], expires_at: at(90 * DAY_MS) })
  await post('/v1/applications', {
    name: 'checkout',
    mesh: mesh.name,
    curve: 'memcached-server',
    objective: 0.9,
    kept_share: 0.99,
    moves_per_day: 3,
    tasks: [
      { name: 'server', vm: server.name, root: true },
      { name: 'client-1', vm: client.name },
      { name: 'client-2', vm: far.name },
    ],
  })
  await post('/v1/metric-sources', {
    name: 'checkout',
    mesh_id: mesh.id,
    unit: 'orders/s',
    paths: [{ source_vm_id: client.id, target_vm_id: server.id }],
  })
  await post('/v1/scenarios', {
    mesh: mesh.name,
    name: 'zone b fails',
    changes: [{ kind: 'drop_zone', zone: client.zone_name }],
  })
  await post('/v1/simulations', { name: 'One rack, one hour', world, policies })
  await post('/v1/pins', {
    mesh_id: mesh.id,
    started_at: at(-600_000),
    ended_at: at(-60_000),
    reason: 'Latency complaint of the database team',
  })
  await publishArtifact(page, mesh.id)
  await importTrace(page, await post('/v1/meshes', { name: 'imported', window_s: 10 }))

  const some = (path: string, holds: (items: { state: string }[]) => boolean) =>
    expect
      .poll(async () => holds((await read<{ items: { state: string }[] }>(page, path)).items), { timeout: 300_000 })
      .toBe(true)
  await some('/v1/incidents', (items) => items.length > 0)
  // Overview and heatmap compare with the usual delay, which needs about twenty minutes.
  await page.waitForTimeout(Number(process.env.SINEMORA_RECORD_AFTER_S ?? 1_320) * 1_000)
  await write(page, 'POST', '/v1/recommendations', { mesh: mesh.name, minutes: 15, moves_max: 3 })
  await some('/v1/recommendations', (items) => items.length > 0)
  await some('/v1/jobs', (items) => items.every(({ state }) => state !== 'queued' && state !== 'running'))
}

/** Create an object; return its id, or undefined if the name exists. */
async function ensure(page: Page, path: string, data: object): Promise<string | undefined> {
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const answer = await page.request.post(path, { data, headers: { 'X-CSRF-Token': csrf_token } })
  if (answer.status() === 409) return undefined
  expect(answer.ok(), `${path}: ${await answer.text()}`).toBe(true)
  return ((await answer.json()) as { id: string }).id
}

async function publishArtifact(page: Page, meshId: string) {
  await write(page, 'PUT', `/v1/meshes/${meshId}/artifact-settings`, { enabled: true })
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const data = Buffer.alloc(200_000, 'a plug-in')
  const digest = createHash('sha256').update(data).digest('hex')
  const answer = await page.request.put(`/v1/artifact-blocks/${digest}`, {
    headers: { 'X-CSRF-Token': csrf_token, 'Content-Type': 'application/octet-stream' },
    data,
  })
  expect(answer.ok(), await answer.text()).toBe(true)
  const blocks = [{ digest, size: data.length }]
  await ensure(page, '/v1/artifacts', {
    name: 'plug-in.tar',
    release: '1.4',
    mesh_id: meshId,
    chunking: 'fixed',
    blocks,
  })
}

async function importTrace(page: Page, meshId: string | undefined) {
  if (!meshId) return
  const { csrf_token } = await read<{ csrf_token: string }>(page, '/v1/auth/session')
  const answer = await page.request.post(`/v1/meshes/${meshId}/imports?kind=csv&times=end_now`, {
    headers: { 'X-CSRF-Token': csrf_token, 'Content-Type': 'text/csv' },
    data: 'at,source,target,round_trip_ns\n1700000000,x,y,84200\n1700000001,x,y,85100\n',
  })
  expect(answer.ok(), await answer.text()).toBe(true)
}
