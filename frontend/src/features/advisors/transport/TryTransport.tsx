import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useEdits } from '~/api/access'
import { bulkSendersQuery, useStartTrial } from '~/api/bulk'
import type { BulkSender, TransportVariant } from '~/api/types'
import { threeDigits } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { NumberField, numberOf } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { ActionError, Notice } from '~/ui/State'
import { strings } from './bulkStrings'

interface Props {
  mesh: string
  source: string
  target: string
  onRun: (runId: string) => void
}

const PLAIN: TransportVariant = { congestion: null, connections: 1, mptcp: false, tls: false }

/** Comparison of two transports on a path by the bulk senders of its ends. */
export function TryTransport({ mesh, source, target, onRun }: Props) {
  const senders = useQuery(bulkSendersQuery(mesh))
  return (
    <Panel title={strings.tryIt}>
      <p className={pageStyles.lead}>{strings.tryLead}</p>
      <QueryResult query={senders} what={strings.sendersLower}>
        {(rows) => {
          const ends = [source, target].flatMap((name) => rows.filter(({ vm }) => vm.name === name))
          const off = ends.filter(({ is_on }) => !is_on)
          return off.length > 0 ? (
            <Notice tone="info" title={strings.off(off.map(({ vm }) => vm.name).join(', '))}>
              {strings.offLead}
            </Notice>
          ) : (
            <Form mesh={mesh} source={source} target={target} onRun={onRun} ends={ends} />
          )
        }}
      </QueryResult>
    </Panel>
  )
}

/** The way to a comparison, while no path is chosen. */
export function NoPathToTry() {
  return (
    <Panel title={strings.tryIt}>
      <p className={pageStyles.lead}>{strings.needsPath}</p>
    </Panel>
  )
}

function Form({ mesh, source, target, onRun, ends }: Props & { ends: BulkSender[] }) {
  const [a, setA] = useState(PLAIN)
  const [b, setB] = useState({ ...PLAIN, connections: 4 })
  const [size, setSize] = useState(10)
  const [rounds, setRounds] = useState(5)
  const start = useStartTrial()
  const edits = useEdits()
  const isSame = JSON.stringify(a) === JSON.stringify(b)
  const least = (field: 'bytes_max' | 'rate_max_mbit' | 'seconds_max') =>
    Math.min(...ends.map((end) => end[field] ?? Number.POSITIVE_INFINITY))

  function submit(event: FormEvent) {
    event.preventDefault()
    start.mutate({ mesh, source, target, size_mb: size, rounds, a, b }, { onSuccess: ({ id }) => onRun(id) })
  }

  return (
    <form onSubmit={submit} className={pageStyles.list}>
      <Variant name={strings.variant.a} value={a} ends={ends} onChange={setA} />
      <Variant name={strings.variant.b} value={b} ends={ends} onChange={setB} />
      <div className={pageStyles.form}>
        <NumberField
          label={strings.sizeMb}
          value={size}
          min={0.01}
          step="any"
          required
          withAsterisk={false}
          w={190}
          onChange={({ currentTarget }) => setSize(numberOf(currentTarget.value))}
        />
        <NumberField
          label={strings.rounds}
          value={rounds}
          min={2}
          max={20}
          required
          withAsterisk={false}
          w={190}
          onChange={({ currentTarget }) => setRounds(numberOf(currentTarget.value))}
        />
      </div>
      <p className={pageStyles.lead}>
        {isSame
          ? strings.same
          : strings.limits(
              threeDigits(least('rate_max_mbit')),
              threeDigits(least('bytes_max') / 1e6),
              String(least('seconds_max')),
            )}
      </p>
      {edits && (
        <div>
          <Button type="submit" loading={start.isPending}>
            {strings.compare}
          </Button>
        </div>
      )}
      <ActionError error={start.error} />
    </form>
  )
}

function Variant({
  name,
  value,
  ends,
  onChange,
}: {
  name: string
  value: TransportVariant
  ends: BulkSender[]
  onChange: (value: TransportVariant) => void
}) {
  const controls = ends[0]?.congestion_controls ?? []
  const both = (feature: 'mptcp' | 'tls') => ends.every((end) => end[feature])
  return (
    <fieldset className={pageStyles.form}>
      <legend>{name}</legend>
      <Choice
        label={strings.congestion}
        value={value.congestion ?? ''}
        none={strings.kernelDefault(controls[0] ?? '')}
        data={controls}
        onChange={(congestion) => onChange({ ...value, congestion: congestion || null })}
      />
      <NumberField
        label={strings.connections}
        value={value.connections}
        min={1}
        max={64}
        required
        withAsterisk={false}
        w={130}
        onChange={({ currentTarget }) => onChange({ ...value, connections: numberOf(currentTarget.value) })}
      />
      {(['mptcp', 'tls'] as const).map((feature) => (
        <Checkbox
          key={feature}
          label={strings[feature]}
          checked={value[feature]}
          disabled={!both(feature)}
          onChange={({ currentTarget }) => onChange({ ...value, [feature]: currentTarget.checked })}
        />
      ))}
    </fieldset>
  )
}
