/** The pages that are recorded. */

import type { Page } from '@playwright/test'
import { read } from '../support/journey'

interface Named {
  id: string
  name: string
}

/** Return the address of each page, by name; pages of an object show the newest in the product. */
export async function findPages(page: Page, mesh: Named): Promise<Record<string, string>> {
  const { vms } = await read<{ vms: Named[] }>(page, `/v1/meshes/${mesh.id}/roster`)
  const [source, target] = vms as [Named, Named]
  async function newest(path: string): Promise<string> {
    const { items } = await read<{ items: Named[] }>(page, path)
    if (!items[0]) throw new Error(`${path} lists nothing: its page cannot be recorded.`)
    return items[0].id
  }
  const incident = await newest('/v1/incidents?limit=1')
  const recommendation = await newest('/v1/recommendations?limit=1')
  const explore = (show: string, more = '') => `/meshes/${mesh.id}/explore?show=${show}&span=15m${more}`
  return {
    'sign-in': '/sign-in',
    overview: '/',
    heatmap: `/meshes/${mesh.id}`,
    'heatmap-delay': `/meshes/${mesh.id}?metric=one_way_delay`,
    'heatmap-zones': `/meshes/${mesh.id}?by=zone`,
    'heatmap-asymmetry': `/meshes/${mesh.id}?metric=asymmetry`,
    'heatmap-loss': `/meshes/${mesh.id}?metric=loss`,
    'heatmap-comparison': `/meshes/${mesh.id}?span=15m&versus=before`,
    'heatmap-moves': `/meshes/${mesh.id}?moves=${recommendation}`,
    path: `/meshes/${mesh.id}/paths/${source.id}/${target.id}`,
    'latency-budget': `/meshes/${mesh.id}/paths/${source.id}/${target.id}?tab=budget`,
    series: explore('series'),
    distribution: explore('distribution'),
    variability: explore('variability'),
    losses: explore('losses'),
    movers: explore('movers'),
    spikes: explore('spikes'),
    'mesh-settings': `/meshes/${mesh.id}/settings`,
    meshes: '/meshes',
    vms: '/vms',
    vm: `/vms/${source.id}`,
    zones: '/zones',
    artifacts: '/artifacts',
    artifact: `/artifacts/${await newest('/v1/artifacts?limit=1')}`,
    account: '/account',
    device: '/device',
    onboarding: `/onboarding?mesh=${mesh.id}`,
    incidents: '/incidents?show=all',
    annotations: '/annotations',
    incident: `/incidents/${incident}`,
    'incident-evidence': `/incidents/${incident}/evidence`,
    'alert-rules': '/alert-rules',
    'alert-rule': `/alert-rules/${await newest(`/v1/alert-rules?mesh_id=${mesh.id}`)}`,
    'new-alert-rule': '/alert-rules/new',
    receivers: '/receivers',
    silences: '/silences',
    curves: '/curves',
    'curve-comparison': '/curves?compare=memcached-server,spark-glm&added=250',
    curve: '/curves/memcached-server?added=100',
    'curve-on-path': `/curves/memcached-server?mesh=${mesh.id}&source=${source.id}&target=${target.id}`,
    'new-curve': '/curves/new',
    'new-curve-version': '/curves/memcached-server/measure',
    learning: '/curves/learning',
    applications: '/applications',
    'found-in-traffic': '/applications/traffic',
    application: `/applications/${await newest('/v1/applications?limit=1')}`,
    contracts: '/contracts',
    'new-application': '/applications/new',
    recommendations: '/recommendations',
    recommendation: `/recommendations/${recommendation}`,
    'what-if': `/what-if?mesh=${mesh.id}`,
    'compute-mix': '/advisors/compute-mix',
    fairness: `/advisors/fairness?mesh=${mesh.id}`,
    transport: `/advisors/transport?mesh=${mesh.id}&source=${source.name}&target=${target.name}`,
    shaping: '/advisors/shaping',
    'tail-lab': '/advisors/tail-lab',
    simulations: '/simulations',
    simulation: `/simulations/${await newest('/v1/simulations?limit=1')}`,
    jobs: '/jobs',
    members: '/members',
    'single-sign-on': '/single-sign-on',
    tenant: '/tenant',
    'metric-exports': '/metric-exports',
    'api-keys': '/api-keys',
    audit: '/audit',
    usage: '/usage',
    about: '/about',
    'api-reference': '/help/reference?operation=create_zone',
    'not-found': '/no-such-page',
    'unknown-mesh': '/meshes/00000000-0000-4000-8000-000000000000',
  }
}
