import { Anchor, Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useEdits } from '~/api/access'
import { tokenBucketQuery, useDeleteTokenBucket, useSetTokenBucket } from '~/api/inventory'
import type { TokenBucket, TokenBucketInput } from '~/api/types'
import { Problem } from '~/lib/problem'
import { forecastWords, needsAttention, tokensWords, usedWords } from '~/lib/tokenBuckets'
import { formatDecimalBytes } from '~/lib/traffic'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { ActionError, Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { strings } from './trafficStrings'
import styles from './vm.module.css'

/** The token bucket of a VM: its tokens and their forecast, and the form that states it. */
export function VmTokenBucket({ vmId }: { vmId: string }) {
  // An answer of "none" is null, which a query result takes for no answer.
  const query = useQuery({ ...tokenBucketQuery(vmId), select: (bucket) => ({ bucket }) })
  return (
    <Panel title={strings.bucket}>
      <p className={pageStyles.lead}>
        {strings.bucketLead}{' '}
        <Anchor inherit underline="always" renderRoot={(root) => <Link {...root} to="/advisors/shaping" />}>
          {strings.detect}
        </Anchor>
      </p>
      <QueryResult query={query} what={strings.bucketLower}>
        {({ bucket }) => (
          <div className={styles.parts}>
            {bucket ? <Forecast bucket={bucket} /> : <p className={pageStyles.quiet}>{strings.none}</p>}
            <BucketForm vmId={vmId} bucket={bucket} />
          </div>
        )}
      </QueryResult>
    </Panel>
  )
}

function Forecast({ bucket }: { bucket: TokenBucket }) {
  const { forecast } = bucket
  if (!forecast) return <Notice tone="info">{strings.noForecast}</Notice>
  const bytes = (kb: number) => formatDecimalBytes(kb * 1e3)
  return (
    <>
      <Notice tone={needsAttention(forecast) ? 'warn' : 'info'}>{forecastWords(forecast)}</Notice>
      <dl className={styles.facts}>
        <dt>{strings.tokens}</dt>
        <dd>
          {tokensWords(bucket, forecast)},{' '}
          {strings.between(bytes(forecast.tokens_min_kb), bytes(forecast.tokens_max_kb))}
        </dd>
        <dt>{strings.use}</dt>
        <dd>{usedWords(bucket, forecast)}</dd>
      </dl>
    </>
  )
}

function BucketForm({ vmId, bucket }: { vmId: string; bucket: TokenBucket | null }) {
  const mayEdit = useEdits()
  const save = useSetTokenBucket(vmId)
  const remove = useDeleteTokenBucket(vmId)
  const wrong = (name: string) => (save.error instanceof Problem ? save.error.field(name) : undefined)
  if (!mayEdit) return null

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    save.mutate({
      rate_mbit: Number(form.get('rate_mbit')),
      burst_kb: Number(form.get('burst_kb')),
      direction: form.get('direction') as NonNullable<TokenBucketInput['direction']>,
      source: form.get('source') as NonNullable<TokenBucketInput['source']>,
    })
  }

  const options = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }))
  return (
    <>
      <form key={bucket?.updated_at ?? 'none'} className={pageStyles.form} onSubmit={submit}>
        <NumberField
          name="rate_mbit"
          label={strings.rate}
          defaultValue={bucket?.rate_mbit}
          min={0.000001}
          max={1e6}
          step="any"
          required
          error={wrong('rate_mbit')}
          w={140}
        />
        <NumberField
          name="burst_kb"
          label={<Term of="token bucket">{strings.depth}</Term>}
          defaultValue={bucket?.burst_kb}
          min={2}
          max={1e9}
          step="any"
          required
          error={wrong('burst_kb')}
          w={140}
        />
        <NativeSelect
          name="direction"
          label={strings.direction}
          defaultValue={bucket?.direction ?? 'sent'}
          data={options(strings.directions)}
        />
        <NativeSelect
          name="source"
          label={strings.source}
          defaultValue={bucket?.source ?? 'stated'}
          data={options(strings.sources)}
        />
        <Button type="submit" size="sm" variant="default" loading={save.isPending}>
          {bucket ? strings.change : strings.set}
        </Button>
        {bucket && (
          <Button size="sm" variant="default" loading={remove.isPending} onClick={() => remove.mutate(null)}>
            {strings.remove}
          </Button>
        )}
      </form>
      <ActionError error={save.error ?? remove.error} />
    </>
  )
}
