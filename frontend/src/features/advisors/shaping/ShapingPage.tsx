import { Button, Checkbox, FileButton, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shapingQuery } from '~/api/advisors'
import type { Shaping } from '~/api/types'
import type { Patch } from '~/lib/searchParams'
import { formatCount, formatDelay, threeDigits } from '~/lib/units'
import { CopyText } from '~/ui/CopyText'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
import { AdvisorPage } from '../AdvisorPage'
import { COMMUNICATIONS, FIRST, MECHANISMS, requestOf, type ShapingSearch, type Trains, trainsOf } from './question'
import { strings } from './strings'
import { Tails } from './Tails'
import { TokenBuckets } from './TokenBuckets'

interface Props {
  search: ShapingSearch
  onSearch: (patch: Patch<ShapingSearch>) => void
}

interface Bursts {
  name: string
  trains: Trains
}

/** Token buckets, their forecast and what they mean for an application; and the retransmission tail. */
export function ShapingPage({ search, onSearch }: Props) {
  const [bursts, setBursts] = useState<Bursts | null>(null)
  const query = useQuery(shapingQuery(requestOf(search, bursts?.trains ?? null), bursts?.name ?? null))
  const number = (field: keyof typeof FIRST, label: string) => (
    <NumberField
      key={`${field} ${search[field]}`}
      label={label}
      defaultValue={search[field] ?? FIRST[field]}
      min={0}
      step="any"
      w={190}
      onBlur={({ currentTarget }) => onSearch({ [field]: Number(currentTarget.value) })}
    />
  )
  return (
    <AdvisorPage title={strings.shaping} lead={strings.shapingLead}>
      <Panel title={strings.bucket}>
        <Measure bursts={bursts} onChange={setBursts} />
        {!bursts && (
          <>
            <p className={pageStyles.lead}>{strings.knownLead}</p>
            <div className={pageStyles.form}>
              {number('rate', strings.rate)}
              {number('burst', strings.burst)}
              <NativeSelect
                label={strings.mechanism}
                value={search.mechanism ?? 'policer'}
                data={MECHANISMS.map((value) => ({ value, label: strings.mechanisms[value] }))}
                onChange={({ currentTarget }) =>
                  onSearch({ mechanism: currentTarget.value as (typeof MECHANISMS)[number] })
                }
              />
            </div>
          </>
        )}
      </Panel>
      <Panel title={strings.use}>
        <div className={pageStyles.form}>
          {number('use', strings.useRate)}
          {number('transfer', strings.transfer)}
          <NativeSelect
            label={strings.communication}
            value={search.communication ?? 'request_reply'}
            data={COMMUNICATIONS.map((value) => ({ value, label: strings.communications[value] }))}
            onChange={({ currentTarget }) =>
              onSearch({ communication: currentTarget.value as (typeof COMMUNICATIONS)[number] })
            }
          />
          {number('packet', strings.packet)}
          {number('writes', strings.writes)}
          <Checkbox
            label={strings.priorities}
            checked={search.priorities ?? false}
            onChange={({ currentTarget }) => onSearch({ priorities: currentTarget.checked || undefined })}
          />
          <Checkbox
            label={strings.shared}
            checked={search.shared ?? false}
            onChange={({ currentTarget }) => onSearch({ shared: currentTarget.checked || undefined })}
          />
        </div>
      </Panel>
      <QueryResult query={query} what={strings.shapingLower}>
        {(found) => <Finding found={found} search={{ ...FIRST, ...search }} />}
      </QueryResult>
      <TokenBuckets />
      <Tails meshId={search.mesh} onMesh={(mesh) => onSearch({ mesh })} />
    </AdvisorPage>
  )
}

function Measure({ bursts, onChange }: { bursts: Bursts | null; onChange: (bursts: Bursts | null) => void }) {
  const [isBad, setIsBad] = useState(false)
  async function read(file: File | null) {
    if (!file) return
    const trains = trainsOf(await file.text())
    setIsBad(trains === null)
    if (trains) onChange({ name: file.name, trains })
  }
  return (
    <>
      <p className={pageStyles.lead}>{strings.measureLead}</p>
      <CopyText label={strings.onReceiver} text="sinemora advise burst-receiver" />
      <CopyText
        label={strings.onSender}
        text="SINEMORA_API_KEY=$KEY sinemora advise shaping $HOST --output bursts.json"
      />
      <div className={pageStyles.form}>
        <FileButton accept=".json" onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} variant="default">
              {strings.openFile}
            </Button>
          )}
        </FileButton>
        {bursts && (
          <Button variant="default" onClick={() => onChange(null)}>
            {strings.forget}
          </Button>
        )}
      </div>
      {bursts && <p>{strings.fileUsed(bursts.name, formatCount(bursts.trains.length))}</p>}
      {isBad && <Notice tone="bad">{strings.notBursts}</Notice>}
    </>
  )
}

const mbit = (rate: number) => `${threeDigits(rate)} Mbit/s`
const seconds = (s: number) => formatDelay(1e9 * s)

function Finding({ found, search }: { found: Shaping; search: ShapingSearch & typeof FIRST }) {
  const { bucket, forecast } = found
  if (!bucket || !forecast) {
    return (
      <Panel title={strings.finding}>
        <Notice tone="good" title={strings.none}>
          {found.reason && strings.reasons[found.reason]}{' '}
          {found.capacity_mbit !== null && strings.capacity(mbit(found.capacity_mbit))}
        </Notice>
      </Panel>
    )
  }
  const use = mbit(search.use)
  return (
    <Panel title={strings.finding}>
      <Notice
        tone="info"
        title={strings.found(
          mbit(bucket.rate_mbit),
          `${threeDigits(bucket.burst_kb)} kB`,
          strings.mechanisms[bucket.mechanism],
        )}
      >
        {forecast.empty_in_s === null ? strings.neverEmpty(use) : strings.emptyIn(seconds(forecast.empty_in_s), use)}{' '}
        {strings.refill(seconds(bucket.burst_kb / (125 * bucket.rate_mbit)))}{' '}
        {forecast.transfer_s !== null &&
          strings.transferTakes(`${threeDigits(search.transfer)} MB`, seconds(forecast.transfer_s))}
      </Notice>
      <h3>{strings.checks}</h3>
      {found.checks.length === 0 && <p className={pageStyles.lead}>{strings.noChecks}</p>}
      {found.checks.map((check) => (
        <Notice key={check.id} tone="warn" title={`${check.id}: ${check.effect}`}>
          {check.remedy} {check.caveat && strings.caveat(check.caveat)}
        </Notice>
      ))}
      <p className={pageStyles.lead}>{strings.checkSource}</p>
    </Panel>
  )
}
