import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Pin, pinsQuery, type UsageItem, usageQuery, useLetRangeGo } from '~/api/usage'
import { formatMoment } from '~/lib/time'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Page, Panel } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
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
      <Records
        label="Usage"
        rows={usage.data.items}
        id={(item) => item.resource}
        columns={[
          { title: 'Quota', cell: ({ resource }) => <Quota {...RESOURCES[resource]} />, as: 'head' },
          { title: 'Used', cell: ({ used }) => (used === null ? '–' : number(used)) },
          { title: 'Of', cell: ({ limit }) => number(limit) },
          { title: 'Share', cell: (item) => <Share item={item} /> },
        ]}
      />
      <KeptRanges />
    </Page>
  )
}

function Quota({ name, what }: { name: string; what: string }) {
  return (
    <>
      {name} <span className={styles.what}>{what}</span>
    </>
  )
}

function Share({ item: { resource, used, limit } }: { item: UsageItem }) {
  if (used === null || limit <= 0) return null
  return (
    <meter
      className={styles.share}
      min={0}
      max={limit}
      high={0.9 * limit}
      value={Math.min(used, limit)}
      aria-label={`${RESOURCES[resource].name}: ${number((100 * used) / limit)} %`}
    />
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
        <Records
          label="Kept ranges"
          rows={pins.data}
          id={(pin) => pin.id}
          columns={[
            { title: 'Reason', cell: (pin) => pin.reason, as: 'head' },
            {
              title: 'Mesh',
              cell: (pin) => (
                <Anchor
                  size="sm"
                  renderRoot={(root) => <Link {...root} to="/meshes/$meshId" params={{ meshId: pin.mesh_id }} />}
                >
                  {pin.mesh_name}
                </Anchor>
              ),
            },
            { title: 'From', cell: (pin) => moment(pin.started_at) },
            { title: 'To', cell: (pin) => moment(pin.ended_at) },
            { title: 'Kept by', cell: (pin) => pin.made_by },
            {
              title: 'Actions',
              cell: (pin) => (
                <RowAction label={`Let go: ${pin.reason}`} onClick={() => setLeaving(pin)}>
                  Let go
                </RowAction>
              ),
            },
          ]}
        />
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
