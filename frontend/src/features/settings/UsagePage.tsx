import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EditorsOnly } from '~/api/EditorsOnly'
import { type Pin, pinsQuery, type UsageItem, usageQuery, useLetRangeGo } from '~/api/usage'
import { formatMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { TextLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Page, Panel } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { AgedMeasurements } from './AgedMeasurements'
import styles from './settings.module.css'
import { strings } from './strings'

const RESOURCES: Record<UsageItem['resource'], { name: string; what: string }> = {
  vms: { name: strings.quotaVms, what: strings.quotaVmsHint },
  paths: { name: strings.quotaPaths, what: strings.quotaPathsHint },
  windows_per_s: { name: strings.quotaWindows, what: strings.quotaWindowsHint },
  raw_days: { name: strings.quotaDays, what: strings.quotaDaysHint },
  minute_days: { name: strings.quotaMinutes, what: strings.quotaMinutesHint },
  artifact_mib: { name: strings.quotaArtifacts, what: strings.quotaArtifactsHint },
  open_jobs: { name: strings.limitJobs, what: strings.limitJobsHint },
  live_streams: { name: strings.limitStreams, what: strings.limitStreamsHint },
}

const number = (value: number) => (Number.isInteger(value) ? formatCount(value) : value.toFixed(1))

/** Usage against quotas, and pinned ranges. */
export function UsagePage() {
  const usage = useQuery(usageQuery)
  if (!usage.data) {
    return <Unloaded query={usage} title={strings.usage} what={strings.usageLower} failed={strings.usage} />
  }
  const { plan, contact, items } = usage.data
  const nearlyUsed = items.filter(({ used, limit }) => used !== null && limit > 0 && used >= 0.9 * limit)
  return (
    <Page title={strings.usage} lead={strings.usageLead(contact)}>
      <p>{plan ? strings.planIs(plan) : strings.noPlan}</p>
      {nearlyUsed.length > 0 && (
        <Notice tone="warn" title={strings.nearlyUsed(nearlyUsed.map(({ resource }) => RESOURCES[resource].name))}>
          {strings.nearlyUsedHint(contact)}
        </Notice>
      )}
      <Records
        label={strings.usage}
        rows={items}
        id={(item) => item.resource}
        columns={[
          { title: strings.quotaName, cell: ({ resource }) => <Quota {...RESOURCES[resource]} />, as: 'head' },
          { title: strings.used, cell: ({ used }) => (used === null ? '–' : number(used)) },
          { title: strings.limit, cell: ({ limit }) => number(limit) },
          { title: strings.share, cell: (item) => <Share item={item} /> },
          { title: strings.setBy, cell: ({ set_by }) => strings.setByNames[set_by] },
        ]}
      />
      <KeptRanges />
      <AgedMeasurements />
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
  if (!pins.data) return <Unloaded query={pins} what={strings.pinnedRangesLower} failed={strings.pinnedRanges} />
  const moment = (at: string) => formatMoment(new Date(at), clock)
  return (
    <Panel title={strings.pinnedRanges}>
      {pins.data.length === 0 ? (
        <NoRows next={<WordLink to="/meshes">{strings.chooseMesh}</WordLink>}>{strings.noPinnedRanges}</NoRows>
      ) : (
        <Records
          label={strings.pinnedRanges}
          rows={pins.data}
          id={(pin) => pin.id}
          columns={[
            { title: strings.reason, cell: (pin) => pin.reason, as: 'head' },
            {
              title: strings.mesh,
              cell: (pin) => (
                <TextLink to="/meshes/$meshId" params={{ meshId: pin.mesh_id }}>
                  {pin.mesh_name}
                </TextLink>
              ),
            },
            { title: strings.from, cell: (pin) => moment(pin.started_at) },
            { title: strings.to, cell: (pin) => moment(pin.ended_at) },
            { title: strings.pinnedBy, cell: (pin) => pin.made_by },
            {
              title: strings.actions,
              cell: (pin) => (
                <EditorsOnly>
                  <RowAction label={strings.unpinReason(pin.reason)} onClick={() => setLeaving(pin)}>
                    {strings.unpin}
                  </RowAction>
                </EditorsOnly>
              ),
            },
          ]}
        />
      )}
      <Confirm
        title={strings.unpinRange}
        action={strings.unpin}
        about={leaving?.id ?? null}
        doing={letGo}
        onClose={() => setLeaving(null)}
      >
        {strings.unpinEffect}
      </Confirm>
    </Panel>
  )
}
