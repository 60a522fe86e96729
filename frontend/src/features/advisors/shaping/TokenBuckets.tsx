import { useQuery } from '@tanstack/react-query'
import { tokenBucketsQuery } from '~/api/inventory'
import { forecastWords, needsAttention, tokensWords, usedWords } from '~/lib/tokenBuckets'
import { NO_VALUE } from '~/lib/units'
import { TextLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { StatusMark } from '~/ui/StatusMark'
import { strings } from './strings'

/** The token buckets of all VMs, with the tokens left by their traffic and when they will be empty. */
export function TokenBuckets() {
  const query = useQuery(tokenBucketsQuery)
  return (
    <Panel title={strings.buckets}>
      <p className={pageStyles.lead}>{strings.bucketsLead}</p>
      <QueryResult query={query} what={strings.bucketsLower}>
        {(rows) =>
          rows.length === 0 ? (
            <NoRows next={<WordLink to="/vms">{strings.chooseVm}</WordLink>}>{strings.noBuckets}</NoRows>
          ) : (
            <Records
              label={strings.buckets}
              rows={rows}
              id={({ vm_id: vm }) => vm}
              columns={[
                {
                  title: strings.vm,
                  cell: ({ vm_id: vmId, vm_name: name }) => (
                    <TextLink to="/vms/$vmId" params={{ vmId }}>
                      {name}
                    </TextLink>
                  ),
                  as: 'head',
                },
                {
                  title: strings.state,
                  cell: ({ forecast }) =>
                    forecast ? (
                      <StatusMark status={needsAttention(forecast) ? 'warn' : 'good'}>
                        {forecastWords(forecast)}
                      </StatusMark>
                    ) : (
                      strings.noForecast
                    ),
                },
                {
                  title: strings.tokensLeft,
                  cell: (bucket) => (bucket.forecast ? tokensWords(bucket, bucket.forecast) : NO_VALUE),
                },
                {
                  title: strings.use,
                  cell: (bucket) => (bucket.forecast ? usedWords(bucket, bucket.forecast) : NO_VALUE),
                },
              ]}
            />
          )
        }
      </QueryResult>
    </Panel>
  )
}
