import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, Fragment, useRef } from 'react'
import { useEdits } from '~/api/access'
import { tokenBucketQuery, useDeleteTokenBucket, useSetTokenBucket } from '~/api/inventory'
import type { TokenBucket, TokenBucketInput } from '~/api/types'
import { fieldsOf } from '~/lib/problem'
import { forecastWords, needsAttention, tokensWords, usedWords } from '~/lib/tokenBuckets'
import { formatDecimalBytes } from '~/lib/traffic'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Choice } from '~/ui/Choice'
import { WordLink } from '~/ui/links'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { useEdited } from '~/ui/useEdited'
import { strings } from './trafficStrings'
import styles from './vm.module.css'

/** The token bucket of a VM: its tokens and their forecast, and the form that states it. */
export function VmTokenBucket({ vmId }: { vmId: string }) {
  // An answer of "none" is null, which a query result takes for no answer.
  const query = useQuery({ ...tokenBucketQuery(vmId), select: (bucket) => ({ bucket }) })
  return (
    <Panel title={strings.tokenBucket}>
      <p className={pageStyles.lead}>
        {strings.bucketLead} <WordLink to="/advisors/shaping">{strings.detect}</WordLink>
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
        <dt>{strings.tokensLeft}</dt>
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

type Shape = ReturnType<typeof shapeOf>

/** Return the fields of the form; an empty rate and depth where no bucket is set. */
const shapeOf = (bucket: TokenBucket | null) => ({
  rate_mbit: bucket?.rate_mbit ?? null,
  burst_kb: bucket?.burst_kb ?? null,
  direction: bucket?.direction ?? ('sent' as const),
  source: bucket?.source ?? ('stated' as const),
})

const linesOf = ({ rate_mbit, burst_kb, direction, source }: Shape): Record<string, string> =>
  rate_mbit === null
    ? {}
    : {
        [strings.rateMbit]: String(rate_mbit),
        [strings.depthKb]: String(burst_kb),
        [strings.tokensFor]: strings.directions[direction],
        [strings.source]: strings.sources[source],
      }

interface FormProps {
  vmId: string
  bucket: TokenBucket | null
}

function BucketForm({ vmId, bucket }: FormProps) {
  const mayEdit = useEdits()
  const edited = useEdited(shapeOf(bucket), String(bucket?.version ?? 0), linesOf)
  const element = useRef<HTMLFormElement>(null)
  const save = useSetTokenBucket(vmId)
  const remove = useDeleteTokenBucket(vmId)
  const wrong = fieldsOf(save)
  if (!mayEdit) return null

  function typed() {
    const form = new FormData(element.current as HTMLFormElement)
    return {
      rate_mbit: Number(form.get('rate_mbit')),
      burst_kb: Number(form.get('burst_kb')),
      direction: form.get('direction') as NonNullable<TokenBucketInput['direction']>,
      source: form.get('source') as NonNullable<TokenBucketInput['source']>,
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const changed = typed()
    save.mutate({ ...changed, version: edited.version }, { onSuccess: () => edited.saved(changed) })
  }

  // What was removed here is no change by another person; its values stay in the fields, to be set again.
  const removeBucket = () => remove.mutate(edited.version, { onSuccess: () => edited.saved(shapeOf(null)) })
  return (
    <>
      <form className={pageStyles.form} onSubmit={submit} ref={element}>
        <Fragment key={edited.formKey}>
          <NumberField
            {...wrong('rate_mbit')}
            label={strings.rateMbit}
            defaultValue={edited.initial.rate_mbit ?? ''}
            min={0.000001}
            max={1e6}
            step="any"
            required
            w={140}
          />
          <NumberField
            {...wrong('burst_kb')}
            label={<Term of="token bucket">{strings.depthKb}</Term>}
            defaultValue={edited.initial.burst_kb ?? ''}
            min={2}
            max={1e9}
            step="any"
            required
            w={140}
          />
          <Choice
            name="direction"
            label={strings.tokensFor}
            defaultValue={edited.initial.direction}
            data={strings.directions}
          />
          <Choice name="source" label={strings.source} defaultValue={edited.initial.source} data={strings.sources} />
        </Fragment>
        <Button type="submit" size="sm" variant="default" loading={save.isPending}>
          {bucket ? strings.change : strings.set}
        </Button>
        {bucket && (
          <Button size="sm" variant="default" loading={remove.isPending} onClick={removeBucket}>
            {strings.remove}
          </Button>
        )}
      </form>
      <ChangedMeanwhile edited={edited} error={save.error ?? remove.error} typed={typed} />
    </>
  )
}
