import { Button, Checkbox, FileButton, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shapingQuery } from '~/api/advisors'
import type { Patch } from '~/lib/searchParams'
import { formatCount } from '~/lib/units'
import { CopyText } from '~/ui/CopyText'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
import { AdvisorPage } from '../AdvisorPage'
import { BucketFinding } from './BucketFinding'
import { type Bursts, burstsOf, COMMUNICATIONS, FIRST, MECHANISMS, requestOf, type ShapingSearch } from './question'
import { strings } from './strings'
import { Tails } from './Tails'
import { TokenBuckets } from './TokenBuckets'

interface Props {
  search: ShapingSearch
  onSearch: (patch: Patch<ShapingSearch>) => void
}

interface BurstFile extends Bursts {
  name: string
}

/** Token buckets, their forecast and what they mean for an application; and the retransmission tail. */
export function ShapingPage({ search, onSearch }: Props) {
  const [bursts, setBursts] = useState<BurstFile | null>(null)
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
          {(['priorities', 'shared', 'unacknowledged', 'ranges', 'strict'] as const).map((fact) => (
            <Checkbox
              key={fact}
              label={strings[fact]}
              checked={search[fact] ?? false}
              onChange={({ currentTarget }) => onSearch({ [fact]: currentTarget.checked || undefined })}
            />
          ))}
        </div>
      </Panel>
      <QueryResult query={query} what={strings.shapingLower}>
        {(found) => <BucketFinding found={found} search={{ ...FIRST, ...search }} bursts={bursts} />}
      </QueryResult>
      <TokenBuckets />
      <Tails meshId={search.mesh} onMesh={(mesh) => onSearch({ mesh })} />
    </AdvisorPage>
  )
}

function Measure({ bursts, onChange }: { bursts: BurstFile | null; onChange: (bursts: BurstFile | null) => void }) {
  const [isBad, setIsBad] = useState(false)
  async function read(file: File | null) {
    if (!file) return
    const read = burstsOf(await file.text())
    setIsBad(read === null)
    if (read) onChange({ name: file.name, ...read })
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
