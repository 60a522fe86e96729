import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shapingQuery } from '~/api/advisors'
import { labelled } from '~/lib/options'
import type { Patch } from '~/lib/searchParams'
import { formatCount } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { LiveNumber } from '~/ui/LiveNumber'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { BucketFinding } from './BucketFinding'
import { type Named, OpenedFile } from './OpenedFile'
import { type Bursts, burstsOf, COMMUNICATIONS, FIRST, MECHANISMS, requestOf, type ShapingSearch } from './question'
import { strings } from './strings'
import { Tails } from './Tails'
import { TokenBuckets } from './TokenBuckets'
import { Treatment } from './Treatment'

interface Props {
  search: ShapingSearch
  onSearch: (patch: Patch<ShapingSearch>) => void
}

/** Token buckets, their forecast and what they mean for an application; and the retransmission tail. */
export function ShapingPage({ search, onSearch }: Props) {
  const [bursts, setBursts] = useState<Named<Bursts> | null>(null)
  const query = useQuery(shapingQuery(requestOf(search, bursts?.trains ?? null), bursts?.name ?? null))
  const number = (field: keyof typeof FIRST, label: string) => (
    <LiveNumber
      label={label}
      number={search[field] ?? FIRST[field]}
      min={0}
      step="any"
      w={190}
      onNumber={(value) => onSearch({ [field]: value })}
    />
  )
  return (
    <Page title={strings.shaping} lead={strings.shapingLead}>
      <Panel title={strings.tokenBucket}>
        <OpenedFile
          opened={bursts}
          onChange={setBursts}
          parse={burstsOf}
          command="SINEMORA_API_KEY=$KEY sinemora advise shaping $HOST --output bursts.json"
          words={{
            lead: strings.measureLead,
            open: strings.openFile,
            bad: strings.notBursts,
            forget: strings.forget,
            used: ({ name, trains }) => strings.fileUsed(name, formatCount(trains.length)),
          }}
        />
        {!bursts && (
          <>
            <p className={pageStyles.lead}>{strings.knownLead}</p>
            <div className={pageStyles.form}>
              {number('rate', strings.rateMbit)}
              {number('burst', strings.depthKb)}
              <Choice
                label={strings.mechanism}
                value={search.mechanism ?? 'policer'}
                data={labelled(strings.mechanisms, MECHANISMS)}
                onChange={(mechanism) => onSearch({ mechanism })}
              />
            </div>
          </>
        )}
      </Panel>
      <Panel title={strings.use}>
        <div className={pageStyles.form}>
          {number('use', strings.useRate)}
          {number('transfer', strings.transfer)}
          <Choice
            label={strings.communication}
            value={search.communication ?? 'request_reply'}
            data={labelled(strings.communications, COMMUNICATIONS)}
            onChange={(communication) => onSearch({ communication })}
          />
          {number('packet', strings.packetBytes)}
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
      <Treatment />
      <TokenBuckets />
      <Tails meshId={search.mesh} onMesh={(mesh) => onSearch({ mesh })} />
    </Page>
  )
}
