import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Pin, pinsQuery, type UsageItem, usageQuery, useLetRangeGo } from '~/api/usage'
import { formatMoment } from '~/lib/time'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Page, Panel, Table } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import styles from './settings.module.css'

const RESOURCES: Record<UsageItem['resource'], { name: string; what: string }> = {
  vms: { name: 'VMs', what: 'with an agent or without' },
  paths: { name: 'Paths', what: 'of all meshes, each direction' },
  windows_per_s: { name: 'Windows a second', what: 'paths divided by the length of their windows' },
  raw_days: { name: 'Days of windows', what: 'as they were measured' },
  minute_days: { name: 'Days of minutes', what: 'windows merged by minute' },
}

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 })

/** What the tenant uses of what it may use, and which measurements stay beyond that. */
export function UsagePage() {
  const usage = useQuery(usageQuery)
  if (usage.error && !usage.data) {
    return <Failed what="The usage" error={usage.error} retry={() => void usage.refetch()} />
  }
  if (!usage.data) return <Loading what="the usage" />
  return (
    <Page title="Usage" lead="What you use of what you may use. Whoever runs this installation can raise it.">
      <Table label="Usage">
        <thead>
          <tr>
            <th scope="col">Quota</th>
            <th scope="col">Used</th>
            <th scope="col">Of</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {usage.data.items.map((item) => (
            <Row key={item.resource} item={item} />
          ))}
        </tbody>
      </Table>
      <KeptRanges />
    </Page>
  )
}

function Row({ item: { resource, used, limit } }: { item: UsageItem }) {
  const { name, what } = RESOURCES[resource]
  return (
    <tr>
      <th scope="row">
        {name} <span className={styles.what}>{what}</span>
      </th>
      <td>{used === null ? '–' : number(used)}</td>
      <td>{number(limit)}</td>
      <td>
        {used !== null && limit > 0 && (
          <meter
            className={styles.share}
            min={0}
            max={limit}
            high={0.9 * limit}
            value={Math.min(used, limit)}
            aria-label={`${name}: ${number((100 * used) / limit)} %`}
          />
        )}
      </td>
    </tr>
  )
}

function KeptRanges() {
  const pins = useQuery(pinsQuery)
  const clock = useClock()
  const letGo = useLetRangeGo()
  const [leaving, setLeaving] = useState<Pin | null>(null)
  if (pins.error && !pins.data) {
    return <Failed what="The list of kept ranges" error={pins.error} retry={() => void pins.refetch()} />
  }
  if (!pins.data) return <Loading what="kept ranges" />
  const moment = (at: string) => formatMoment(new Date(at), clock)
  return (
    <Panel title="Kept ranges">
      {pins.data.length === 0 ? (
        <p>None. “Keep this range” on the page of a path keeps what was measured then beyond the days above.</p>
      ) : (
        <Table label="Kept ranges">
          <thead>
            <tr>
              <th scope="col">Reason</th>
              <th scope="col">Mesh</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">Kept by</th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {pins.data.map((pin) => (
              <tr key={pin.id}>
                <th scope="row">{pin.reason}</th>
                <td>
                  <Anchor
                    size="sm"
                    renderRoot={(root) => <Link {...root} to="/meshes/$meshId" params={{ meshId: pin.mesh_id }} />}
                  >
                    {pin.mesh_name}
                  </Anchor>
                </td>
                <td>{moment(pin.started_at)}</td>
                <td>{moment(pin.ended_at)}</td>
                <td>{pin.made_by}</td>
                <td>
                  <Anchor
                    component="button"
                    type="button"
                    size="sm"
                    onClick={() => setLeaving(pin)}
                    aria-label={`Let go: ${pin.reason}`}
                  >
                    Let go
                  </Anchor>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <Confirm
        title="Let this range go"
        action="Let go"
        about={leaving?.id ?? null}
        doing={letGo}
        onClose={() => setLeaving(null)}
      >
        What is older than the days above is deleted within the hour.
      </Confirm>
    </Panel>
  )
}
