import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { tokenBucketsQuery, useSetTokenBucket, vmsQuery } from '~/api/inventory'
import type { Shaping, TokenBucket } from '~/api/types'
import { labelled, named } from '~/lib/options'
import { forecastWords } from '~/lib/tokenBuckets'
import { formatBitRate, formatDecimalBytes } from '~/lib/traffic'
import { Choice } from '~/ui/Choice'
import { WordLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import type { Bursts } from './question'
import { strings } from './strings'

const DIRECTIONS = ['sent', 'received'] as const

interface Props {
  bucket: NonNullable<Shaping['bucket']>
  bursts: Bursts | null
}

/** The form that saves a bucket as that of a VM, from then on forecast from its counted traffic. */
export function SaveBucket({ bucket, bursts }: Props) {
  const mayEdit = useEdits()
  const vms = useQuery(vmsQuery)
  const set = useQuery(tokenBucketsQuery)
  const [chosen, setChosen] = useState<string | null>(null)
  const [direction, setDirection] = useState<(typeof DIRECTIONS)[number]>('sent')
  const all = vms.data ?? []
  const vm = all.find(({ id }) => id === chosen) ?? all.find(({ name }) => name === bursts?.sender) ?? all[0]
  const save = useSetTokenBucket(vm?.id ?? '')
  if (!mayEdit || !vm) return null
  const old = set.data?.find(({ vm_id: id }) => id === vm.id)
  return (
    <>
      <p className={pageStyles.lead}>
        {strings.saveLead(bursts ? strings.saveDetected : strings.saveStated)} {bucket.upper && strings.saveSustained}
      </p>
      <div className={pageStyles.form}>
        <Choice
          label={strings.vm}
          value={vm.id}
          data={named(all)}
          onChange={(value) => {
            setChosen(value)
            save.reset()
          }}
        />
        <Choice
          label={strings.tokensFor}
          value={direction}
          data={labelled(strings.saveDirections, DIRECTIONS)}
          onChange={setDirection}
        />
        <Button
          loading={save.isPending}
          onClick={() =>
            save.mutate({
              rate_mbit: bucket.rate_mbit,
              burst_kb: Math.max(bucket.burst_kb, 2),
              direction,
              source: bursts ? 'detected' : 'stated',
              version: String(old?.version ?? 0),
            })
          }
        >
          {old ? strings.replace : strings.save}
        </Button>
      </div>
      {old && !save.data && <p className={pageStyles.lead}>{strings.replaces(shapeOf(old))}</p>}
      {save.data && <Saved bucket={save.data} />}
      <ActionError error={save.error} />
    </>
  )
}

function Saved({ bucket }: { bucket: TokenBucket }) {
  const { forecast, vm_id: vmId, vm_name: name } = bucket
  return (
    <Notice tone="good" title={strings.saved(name)}>
      {forecast ? strings.savedForecast(forecastWords(forecast)) : strings.savedNoTraffic} {strings.alertBy}{' '}
      <WordLink to="/alert-rules">{strings.alertKind}</WordLink> {strings.alertEnd}{' '}
      <WordLink to="/vms/$vmId" params={{ vmId }}>
        {strings.seeVm(name)}
      </WordLink>
    </Notice>
  )
}

const shapeOf = ({ rate_mbit: rate, burst_kb: depth }: TokenBucket) =>
  `${formatBitRate(rate * 1e6)}, ${formatDecimalBytes(depth * 1e3)}`
